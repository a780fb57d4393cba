# an alert keeps its id and its first time over a restart, and goes when its cause does
paired_world
echo base >"$alpha/f"
settle
down beta
echo from alpha >"$alpha/f"
# Alpha has seen and dated what it has before beta does anything.
sleep 1
echo from beta >"$beta/f"
up beta
settle
alert() { ctl alpha --json alerts | grep -o '"id":"[^"]*","code":"conflict.file"[^}]*"firstSeen":"[^"]*"'; }
before=$(alert)
[ -n "$before" ] || fail "no alert tells of the conflict: $(ctl alpha --json alerts)"
status=0
ctl alpha status >"$world/status" || status=$?
[ "$status" -eq 1 ] || fail "status ends with $status while a conflict is open: $(cat "$world/status")"
down alpha
up alpha
settle
[ "$(alert)" = "$before" ] || fail "the alert is another one after a restart: $(alert)"
rm "$beta"/f.conflict-*
settle
for ((tries = 0; tries < 100; tries++)); do
    if [ -z "$(alert)" ]; then break; fi
    sleep 0.05
done
[ -z "$(alert)" ] || fail "the alert stays: $(alert)"
ctl alpha status >/dev/null || fail "alpha is not content: $(ctl alpha status)"
