"""The three questions, asked of polars. Usage: ask_polars.py LOG"""
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
print(attempts.group_by(call).len().group_by("len").len(name="calls").sort("len").rows())
steps = attempts.sort(*call, "ts", "attempt").with_columns(
    pl.col("status").shift(1).over(call).alias("status_before"),
    pl.col("error_code").shift(1).over(call).alias("code_before"),
    pl.col("retry_after").shift(1).over(call).alias("hint"),
    (pl.col("ts").dt.epoch("us") + pl.col("duration_ms") * 1000).shift(1).over(call).alias("ended_before"),
)
in_vain = (pl.col("status_before") == 400) | (pl.col("code_before") == "enforced_spend_limit_reached")
early = (pl.col("hint") > 0) & (pl.col("ts").dt.epoch("us") - pl.col("ended_before") < pl.col("hint") * 980000 - 50000)
print(steps.select(in_vain.sum().alias("retried_in_vain"), early.sum().alias("too_early")).rows())
