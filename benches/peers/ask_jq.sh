#!/bin/sh
# The three questions, asked of jq: a stream of small records, then one pass that holds the last attempt of each call.
# Usage: ask_jq.sh LOG
exec jq -n -c '
    def us: (.ts[0:19] + "Z" | fromdate) * 1000000 + ((.ts[20:-1] + "000000")[0:6] | tonumber);
    reduce inputs as $a ({calls: {}, in_vain: 0, early: 0};
        ($a.run_id + "/" + $a.call_id) as $key | ($a | us) as $at | .calls[$key] as $before
        | if $before == null then . else
            (if $before.vain then .in_vain += 1 else . end)
            | (if $before.until != null and $at < $before.until then .early += 1 else . end)
          end
        | .calls[$key] = {
            n: (($before.n // 0) + 1),
            vain: ($a.status == 400 or $a.error_code == "enforced_spend_limit_reached"),
            until: (if ($a.retry_after // 0) > 0
                    then $at + $a.duration_ms * 1000 + $a.retry_after * 980000 - 50000 else null end)
          })
    | {histogram: (reduce .calls[].n as $n ({}; .[$n | tostring] += 1)), in_vain, early}
' "$1"
