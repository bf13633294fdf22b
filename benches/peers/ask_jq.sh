#!/bin/sh
# The three questions, asked of jq: the log as a list of small records, grouped by call.
# Usage: ask_jq.sh LOG
exec jq -n -c '
    def us: (.ts[0:19] + "Z" | fromdate) * 1000000 + ((.ts[20:-1] + "000000")[0:6] | tonumber);
    def in_vain: .status == 400 or .code == "enforced_spend_limit_reached";
    def allowed: .hint * 1000000 - ([.hint * 20000, 50000] | max);
    def any_step(test): [.[:-1], .[1:]] | transpose | any(test);
    [inputs | {call: (.run_id + "/" + .call_id), at: us, attempt, status, code: .error_code,
               hint: (.retry_after // 0), ended: (us + .duration_ms * 1000)}]
    | group_by(.call) | map(sort_by(.at, .attempt))
    | {
        histogram: (reduce (.[] | length | tostring) as $n ({}; .[$n] += 1)),
        in_vain: (map(select(any_step(.[0] | in_vain))) | length),
        early: (map(select(any_step(.[0].hint > 0 and .[1].at - .[0].ended < (.[0] | allowed)))) | length)
      }
' "$1"
