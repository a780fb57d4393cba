# a full disk under the state directory ends the daemon with 74 and a text; with room it goes on where it was
needs_root
new_places
mount_tmpfs "$world/beta/state" 4m
chmod 700 "$world/beta/state"
set_up
up alpha
up beta
pair
echo kept >"$alpha/kept"
settle
fill "$world/beta/state"
mkdir "$alpha/d"
for n in {1..400}; do echo "$n" >"$alpha/d/$n"; done
soon "beta goes on without room for its state" is_down beta
down beta
[ "$ended" -eq 74 ] || fail "beta ended with $ended: $(tail -n 3 "$world/beta/log")"
grep -q 'state\.db.*no space' "$world/beta/log" || fail "beta does not say why: $(tail -n 3 "$world/beta/log")"
ctl beta doctor >"$world/out" && fail "doctor finds nothing: $(cat "$world/out")"
grep -q 'without room for its state syncd stops' "$world/out" || fail "doctor does not see the full disk: $(cat "$world/out")"
not_content alpha || fail "alpha is content while beta is gone: $(cat "$world/status")"
# With as little room as before, a start may fail at once or a little later, but with the same words.
launch beta
soon "beta works without room for its state" is_down beta
down beta
[ "$ended" -eq 74 ] || fail "started again, beta ended with $ended: $(tail -n 3 "$world/beta/log")"
echo meanwhile >"$beta/meanwhile"
echo edited >"$alpha/kept"
rm "$world/beta/state/filler"
up beta
settle
[ "$(cat "$alpha/meanwhile")" = meanwhile ] || fail "what was made on beta meanwhile is missing"
[ "$(find "$beta/d" -type f | wc -l)" -eq 400 ] || fail "beta has $(find "$beta/d" -type f | wc -l) of 400 files"
[ "$(cat "$beta/kept")" = edited ] || fail "the edit is missing"
