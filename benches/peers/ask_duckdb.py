"""The three questions, asked of DuckDB. Usage: ask_duckdb.py LOG THREADS"""
import pathlib
import sys

import duckdb

log, threads = sys.argv[1], int(sys.argv[2])
database = duckdb.connect(config={"threads": threads})
sql = (pathlib.Path(__file__).parent / "questions.sql").read_text()
sql = sql.replace("read_json('LOG'", "read_json('" + log.replace("'", "''") + "'")
for statement in database.extract_statements(sql):
    rows = database.execute(statement).fetchall()
    print(rows)
