# pause stops both directions on both nodes, over a restart too, until resume; each path that waits says why
new_world
up alpha
up beta
pair
echo one >"$alpha/shared"
settle
# waits NODE REASON PATH: it is pending, for this reason.
waits() { tells "$1" "{\"path\":\"$3\",\"reason\":\"$2\"" status; }

ctl alpha pause >"$world/out" || fail "alpha cannot be paused: $(cat "$world/out")"
echo from-alpha >"$alpha/a"
echo from-beta >"$beta/b"
echo two >"$alpha/shared"
soon "alpha does not say why its file waits" waits alpha node.paused a
soon "alpha does not say why the other's file waits" waits alpha node.paused b
soon "beta does not say that alpha is paused" waits beta peer.paused b
tells beta '"paused":true' status || fail "beta does not say that the other node is paused: $(cat "$world/told")"
expect_status() { ctl "$1" status >"$world/out" 2>&1; [ $? -eq 2 ] || fail "$1 does not say that it is not in sync: $(cat "$world/out")"; }
expect_status alpha
expect_status beta
ctl beta wait --timeout 1 >"$world/out" 2>&1 && fail "beta calls that in sync"
grep -qF "the other node is paused" "$world/out" || fail "wait does not say why: $(cat "$world/out")"
[ ! -e "$beta/a" ] && [ ! -e "$alpha/b" ] && [ "$(cat "$beta/shared")" = one ] || fail "something was synced while alpha was paused"
ctl alpha explain a >"$world/out" && grep -qF "syncctl resume" "$world/out" || fail "explain does not say why: $(cat "$world/out")"
down alpha
soon "beta does not say that alpha is away" waits beta peer.away b
up alpha
soon "alpha has forgotten that it is paused" waits alpha node.paused a
sleep 1
[ ! -e "$beta/a" ] && [ ! -e "$alpha/b" ] || fail "something was synced after a restart of the paused node"
ctl alpha resume >"$world/out" || fail "alpha cannot go on: $(cat "$world/out")"
settle
[ "$(cat "$beta/a" "$alpha/b" "$beta/shared" | xargs)" = "from-alpha from-beta two" ] || fail "what waited did not come"
tells beta '"pending":[],' status || fail "something is still pending: $(cat "$world/told")"

# What is written while the other node is away is in the list as well.
down beta
echo three >"$alpha/c"
rm "$alpha/a"
soon "alpha does not list what beta has not got" waits alpha peer.away c
soon "alpha does not list a delete that beta has not heard of" waits alpha peer.away a
up beta
settle
no_conflicts
