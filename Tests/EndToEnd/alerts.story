# an alert keeps its id and its first time over a restart, and goes when its cause does
paired_world
echo base >"$alpha/f"
settle
down beta
begin_log alpha
echo from alpha >"$alpha/f"
soon "alpha does not date its edit before beta does anything" logs alpha f
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
no_alert() { [ -z "$(alert)" ]; }
soon "the alert stays" no_alert
ctl alpha status >/dev/null || fail "alpha is not content: $(ctl alpha status)"
