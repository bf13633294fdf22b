"""The three questions, asked of DuckDB. Usage: ask_duckdb.py LOG THREADS"""
import json
import pathlib
import sys

import duckdb

log, threads = sys.argv[1], int(sys.argv[2])
database = duckdb.connect(config={"threads": threads})
sql = (pathlib.Path(__file__).parent / "questions.sql").read_text()
sql = sql.replace("read_json('LOG'", "read_json('" + log.replace("'", "''") + "'")
load, histogram, steps = database.extract_statements(sql)
database.execute(load)
calls = {str(attempts): calls for attempts, calls in database.execute(histogram).fetchall()}
in_vain, early = database.execute(steps).fetchone()
print(json.dumps({"histogram": calls, "in_vain": in_vain, "early": early}))
