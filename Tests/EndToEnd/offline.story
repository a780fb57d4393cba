# what is done while both daemons are down is found when they come back
paired_world
mkdir "$alpha/docs"
for n in 1 2 3 4 5; do printf '%s' "$n" >"$alpha/docs/$n"; done
settle
down alpha
[ "$ended" -eq 0 ] || fail "alpha ended with $ended"
down beta
printf edited >"$alpha/docs/1"
rm "$alpha/docs/2"
mv "$beta/docs/3" "$beta/docs/three"
printf new >"$beta/new"
up alpha
# Each heard of the other before it went, and the processes of now have not: it is known all the same, and that beta is away.
remembers() {
    local key
    tells "$1" '"connected":false' status || fail "$1 is connected: $(cat "$world/told")"
    for key in program lastContact; do
        if tells "$1" "\"$key\":null" status; then fail "$1 has forgotten the $key of the other: $(cat "$world/told")"; fi
    done
}
remembers alpha
ctl alpha status >"$world/out" 2>&1 || true
grep -q '^  peer    beta, not connected, last heard of .* ago, syncd ' "$world/out" || fail "people are not told when beta was there: $(cat "$world/out")"
down alpha
up beta
remembers beta
up alpha
settle
[ "$(cat "$beta/docs/1")" = edited ] || fail "the edit is missing"
[ ! -e "$beta/docs/2" ] || fail "the deleted file is still there"
[ "$(cat "$alpha/docs/three")" = 3 ] || fail "the renamed file is missing"
[ ! -e "$alpha/docs/3" ] || fail "the old name is still there"
[ "$(cat "$alpha/new")" = new ] || fail "the new file is missing"
