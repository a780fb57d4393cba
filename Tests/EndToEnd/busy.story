# a file that is rewritten without end holds up no other, and arrives once its writer stops
paired_world
busy() {
    local n=0
    while [ ! -e "$world/enough" ]; do
        n=$((n + 1))
        head -c 200000 /dev/urandom >"$alpha/busy"
        echo "$n" >>"$alpha/log"
    done
}
busy &
writer=$!
soon "the writer does not begin" test -s "$alpha/log"
for n in {1..20}; do
    echo "$n" >"$alpha/calm-$n"
    echo "$n" >"$beta/back-$n"
done
soon "the busy file holds up another" test -s "$beta/calm-20"
soon "the busy file holds up the other way" test -s "$alpha/back-20"
echo beta >"$beta/busy-too"
soon "a new file does not come through" test -s "$alpha/busy-too"
kill -0 "$writer" || fail "the writer has stopped"
# It ends between two writes: a child of a killed shell goes on for a while.
touch "$world/enough"
wait "$writer"
settle
[ -s "$beta/log" ] || fail "the log is missing"
no_conflicts
content alpha || fail "alpha is not content: $(cat "$world/status")"
