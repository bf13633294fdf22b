"""The three questions, asked of polars. Usage: ask_polars.py LOG"""
import json
import sys

import polars as pl

schema = {
    "ts": pl.String, "run_id": pl.String, "call_id": pl.String, "attempt": pl.Int32, "status": pl.Int32,
    "error_type": pl.String, "error_code": pl.String, "retry_after": pl.Float64, "duration_ms": pl.Float64,
}
attempts = (
    pl.scan_ndjson(sys.argv[1], schema=schema)
    .with_columns(pl.col("ts").str.to_datetime("%Y-%m-%dT%H:%M:%S%.fZ", time_unit="us"))
    .collect()
)
call = ["run_id", "call_id"]
sizes = attempts.group_by(call).len().group_by("len").len(name="calls").sort("len").rows()
steps = attempts.sort(*call, "ts", "attempt").with_columns(
    pl.col("status").shift(1).over(call).alias("status_before"),
    pl.col("error_code").shift(1).over(call).alias("code_before"),
    pl.col("retry_after").shift(1).over(call).alias("hint"),
    (pl.col("ts").dt.epoch("us") + pl.col("duration_ms") * 1000).shift(1).over(call).alias("ended_before"),
)
in_vain = (pl.col("status_before") == 400) | (pl.col("code_before") == "enforced_spend_limit_reached")
forgiven = pl.max_horizontal(pl.col("hint") * 20_000, pl.lit(50_000.0))
waited = pl.col("ts").dt.epoch("us") - pl.col("ended_before")
early = (pl.col("hint") > 0) & (waited < pl.col("hint") * 1_000_000 - forgiven)


def calls(which):
    """Calls with a step of that kind."""
    return steps.filter(which).select(call).n_unique()


histogram = {str(attempts): number for attempts, number in sizes}
print(json.dumps({"histogram": histogram, "in_vain": calls(in_vain), "early": calls(early)}))
