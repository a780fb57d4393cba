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
# The first few may be believed before there are enough to tell a mass deletion.
[ "$(ls "$beta/many" | wc -l)" -ge 70 ] || fail "only $(ls "$beta/many" | wc -l) files are left before anybody agreed"
ctl alpha reject >/dev/null || fail "reject was refused"
settle
[ "$(ls "$alpha/many" | wc -l)" -ge 70 ] || fail "only $(ls "$alpha/many" | wc -l) files came back"
rm -r "$alpha/many"
soon "the deletions are not held" holds_deletes alpha
ctl alpha approve >/dev/null || fail "approve was refused"
settle
[ ! -e "$beta/many" ] || fail "the files are still there after they were let go"
[ -e "$beta/stays" ] || fail "more went than was let go"
