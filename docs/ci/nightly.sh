#!/bin/sh
# Judges one night of logs from cron, silently while nothing new is wrong: cron mails what is printed.
#
#   30 6 * * *  /opt/retrylens/nightly.sh /var/log/agents /var/lib/retrylens
#
# usage: nightly.sh LOGS STATE
#   LOGS   a directory of logs; those of the last 24 hours count
#   STATE  a directory that keeps a report of each day, and the last one as the baseline of the next
set -eu
logs=$1
state=$2
today=$state/$(date -u +%Y-%m-%d)
mkdir -p "$today"
set --
[ ! -f "$state/last.json" ] || set -- --baseline "$state/last.json"
code=0
retrylens analyze --quiet --since "${SINCE:-24h}" --fail-on "${FAIL_ON:-warning}" "$@" \
    --output "text=$today/report.txt" --output "html=$today/report.html" --output "json=$today/report.json" \
    --output "markdown=$today/report.md" "$logs" >/dev/null || code=$?
case $code in
    0) ;;
    1) cat "$today/report.txt" ;;
    *) echo "retrylens ended with exit code $code; nothing was judged, or not all" >&2; exit "$code" ;;
esac
cp "$today/report.json" "$state/last.json"
exit "$code"
