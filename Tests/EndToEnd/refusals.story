# wrong input and wrong moments end with the right exit status, and say why
expect() {
    local wanted=$1 got=0
    shift
    "$@" >"$world/out" 2>"$world/err" || got=$?
    [ "$got" -eq "$wanted" ] || fail "$* ended with $got instead of $wanted: $(cat "$world/out" "$world/err")"
}
new_world
expect 64 "$programs/syncd" --nonsense
expect 0 "$programs/syncd" --config "$world/alpha/syncd.conf" --check-config
expect 78 "$programs/syncd" --config "$world/none.conf"
printf '[node]\nname = x\nnonsense = 1\n' >"$world/bad.conf"
expect 78 "$programs/syncd" --config "$world/bad.conf" --check-config
grep -q "bad.conf:3" "$world/err" || fail "the line is not named: $(cat "$world/err")"
expect 3 ctl alpha status
expect 1 ctl alpha init --name alpha --folder "$alpha"
expect 64 ctl alpha nonsense
up alpha
up beta
expect 75 "$programs/syncd" --config "$world/alpha/syncd.conf"
expect 2 ctl alpha status
expect 1 ctl beta join syncd1-nonsense
expect 2 ctl alpha wait --for in-sync --timeout 1
pair
settle
expect 1 ctl alpha invite --no-wait
expect 0 ctl alpha status
down alpha
[ "$ended" -eq 0 ] || fail "SIGTERM ended alpha with $ended"
expect 2 ctl beta status
