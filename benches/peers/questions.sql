-- The three questions for DuckDB: the columns are loaded once, then asked three times. The path is put in by the script.
CREATE TABLE attempts AS
SELECT * FROM read_json('LOG', format = 'newline_delimited', columns = {
    ts: 'TIMESTAMP', run_id: 'VARCHAR', call_id: 'VARCHAR', attempt: 'INTEGER', status: 'INTEGER',
    error_type: 'VARCHAR', error_code: 'VARCHAR', retry_after: 'DOUBLE', duration_ms: 'DOUBLE'
});

-- 1. How many attempts did calls take?
SELECT attempts, count(*) AS calls
FROM (SELECT count(*) AS attempts FROM attempts GROUP BY run_id, call_id)
GROUP BY attempts ORDER BY attempts;

-- 2. How many calls sent again after a spent cap or a 400?
-- 3. How many calls sent again before the time the server had named? 2% of it, and 50 ms at least, are forgiven.
WITH steps AS (
    SELECT run_id, call_id, ts,
           lag(status) OVER call AS status_before,
           lag(error_code) OVER call AS code_before,
           lag(retry_after) OVER call AS hint,
           lag(ts + to_microseconds(CAST(duration_ms * 1000 AS BIGINT))) OVER call AS ended_before
    FROM attempts
    WINDOW call AS (PARTITION BY run_id, call_id ORDER BY ts, attempt)
)
SELECT count(DISTINCT (run_id, call_id)) FILTER (
           status_before = 400 OR code_before = 'enforced_spend_limit_reached'
       ) AS retried_in_vain,
       count(DISTINCT (run_id, call_id)) FILTER (
           hint > 0
           AND epoch_us(ts) - epoch_us(ended_before) < hint * 1000000 - greatest(hint * 20000, 50000)
       ) AS too_early
FROM steps;
