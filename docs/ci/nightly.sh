#!/bin/sh
# Judges one night of logs from cron, silently while nothing new is wrong: cron mails what is printed.
#
#   30 6 * * *  /opt/retrylens/nightly.sh /var/log/agents /var/lib/retrylens
#
# usage: nightly.sh LOGS STATE
#   LOGS   a directory of logs; those of the last 24 hours count
#   STATE  a directory that keeps a report of each day, and that of the last good one as the baseline: a problem
#          that is new or grew is told every night until it is gone. To accept what a night found instead:
#          cp STATE/DAY/report.json STATE/baseline.json
set -eu
logs=$1
state=$2
today=$state/$(date -u +%Y-%m-%d)
mkdir -p "$today"
set --
baseline=$state/baseline.json
[ ! -f "$baseline" ] || set -- --baseline "$baseline"
code=0
retrylens analyze --quiet --since "${SINCE:-24h}" --fail-on "${FAIL_ON:-warning}" "$@" \
    --output "text=$today/report.txt" --output "html=$today/report.html" --output "json=$today/report.json" \
    --output "markdown=$today/report.md" "$logs" >/dev/null || code=$?
case $code in
    0) cp "$today/report.json" "$baseline" ;;
    1) cat "$today/report.txt"
       # The first report of all is what later ones are compared with.
       [ -f "$baseline" ] || cp "$today/report.json" "$baseline" ;;
    *) echo "retrylens ended with exit code $code; nothing was judged, or not all" >&2; exit "$code" ;;
esac
exit "$code"
