# a mass deletion waits for a person; reject brings the files back, approve lets them go
paired_world
mkdir "$alpha/many" && for n in $(seq 80); do echo "$n" >"$alpha/many/$n"; done
echo stays >"$alpha/stays"
settle
# Renamed files are not gone: forty of them beside twelve deletes are no mass deletion.
mkdir "$alpha/few" && for n in $(seq 52); do echo "few $n" >"$alpha/few/$n"; done
settle
for n in $(seq 40); do mv "$alpha/few/$n" "$alpha/few/renamed $n"; done
rm "$alpha/few"/[45]?
settle
[ "$(ls "$beta/few" | wc -l)" -eq 40 ] || fail "there are $(ls "$beta/few" | wc -l) files instead of 40"
rm -r "$alpha/many"
soon "the deletions are not held" holds_deletes alpha
status=0
ctl alpha status >"$world/status" || status=$?
[ "$status" -eq 1 ] || fail "status says $status while deletions are held: $(cat "$world/status")"
since() { { ctl alpha --json status || true; } | grep -o '"reason":"fuse.deletes","since":"[^"]*"' | sort -u; }
since >"$world/since"
sleep 1.2
since | cmp -s - "$world/since" || fail "since when they wait changes with the question: $(cat "$world/since"; since)"
# What is held is looked at more than once, and counted once.
held_files() { { ctl alpha --json status || true; } | sed -n 's/.*"heldDeletes":{[^}]*"files":\([0-9]*\).*/\1/p'; }
[ "$(held_files)" -le 80 ] || fail "$(held_files) deletes of 80 files are held"
# The first few may be believed before there are enough to tell a mass deletion.
[ "$(ls "$beta/many" | wc -l)" -ge 70 ] || fail "only $(ls "$beta/many" | wc -l) files are left before anybody agreed"
# The other node is not in sync with that, and says for what it waits.
status=0
ctl beta status >"$world/status" || status=$?
[ "$status" -eq 2 ] && grep -qE '^  waits   for alpha, which holds [0-9]+ deletes: syncctl approve or syncctl reject there$' "$world/status" ||
    fail "status of the other node says $status while deletions are held: $(cat "$world/status")"
status=0
ctl beta wait --for in-sync --timeout 1 >"$world/waited" 2>&1 || status=$?
[ "$status" -eq 2 ] && grep -q 'deletions wait for approval on the other node' "$world/waited" || fail "wait says $status: $(cat "$world/waited")"
ctl beta reject >"$world/rejected" 2>&1 && fail "the other node decides what it does not hold"
grep -q 'wait for a decision on the other node' "$world/rejected" || fail "where to decide is not said: $(cat "$world/rejected")"
ctl alpha reject >/dev/null || fail "reject was refused"
settle
[ "$(ls "$alpha/many" | wc -l)" -ge 70 ] || fail "only $(ls "$alpha/many" | wc -l) files came back"
rm -r "$alpha/many"
soon "the deletions are not held" holds_deletes alpha
down beta
up beta
soon "the other node does not say after its start what it waits for" tells beta '"heldDeletes":' status
[ "$(held_files)" -le 80 ] || fail "$(held_files) deletes of 80 files are held after a rejection"
# By the ID that people see, and not by any other.
ctl alpha approve a0123456789 >"$world/approved" 2>&1 && fail "what waits under another ID was approved"
ctl alpha --json alerts | grep -o '"id":"[^"]*","code":"fuse.deletes"' | cut -d '"' -f 4 >"$world/alert"
ctl alpha approve "$(cat "$world/alert")" >"$world/approved" 2>&1 || fail "approve was refused: $(cat "$world/approved")"
# Once it does not wait any more it has heard of all that was let go, so nothing is left when it is in sync.
ctl beta wait --for in-sync --timeout "$patience" >"$world/waited" 2>&1 || fail "beta is not in sync: $(cat "$world/waited")"
[ ! -e "$beta/many" ] || fail "beta was in sync too early"
settle
[ ! -e "$beta/many" ] || fail "the files are still there after they were let go"
[ -e "$beta/stays" ] || fail "more went than was let go"
# What was let go does not make a mass deletion of what goes next.
rm "$alpha/stays"
settle
[ ! -e "$beta/stays" ] || fail "one delete after the approval did not go through"
