# a new file, an edit, a rename and a delete reach the other node, in both directions
paired_world
echo one >"$alpha/a"
settle
[ "$(cat "$beta/a")" = one ] || fail "a did not arrive"
echo two >>"$beta/a"
settle
[ "$(cat "$alpha/a")" = "$(printf 'one\ntwo')" ] || fail "the edit did not come back"
mkdir -p "$alpha/d/e" && echo x >"$alpha/d/e/x" && chmod 640 "$alpha/d/e/x"
settle
mv "$beta/d" "$beta/moved"
settle
[ -f "$alpha/moved/e/x" ] || fail "the directory did not move"
rm -r "$alpha/moved" "$beta/a"
settle
[ -z "$(ls "$alpha")" ] || fail "something is left: $(ls "$alpha")"
# Figures that count up end with _total and the others are gauges, as promtool wants it.
ctl alpha metrics >"$world/metrics" || fail "no metrics"
grep -E '^# TYPE [a-z_]+ counter$' "$world/metrics" | grep -vE '_total counter$' >"$world/odd" && fail "no name for a counter: $(cat "$world/odd")"
grep -q '^# TYPE syncd_sent_bytes_total counter$' "$world/metrics" || fail "no counter: $(cat "$world/metrics")"
