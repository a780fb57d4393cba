# a file that a program has open for writing, or holds a lock on, is replaced and removed only when it lets go
paired_world
needs flock
for name in edited removed locked both; do echo first >"$alpha/$name"; done
settle

exec 7>>"$beta/edited" 8>>"$beta/removed"
echo second >"$alpha/edited"
rm "$alpha/removed"
soon "beta does not say that it waits" waits_for beta path.busy
soon "beta does not tell of the second file" tells beta '"pendingTotal":2' status
[ "$(cat "$beta/edited")" = first ] || fail "a file was replaced under a program that has it open"
[ -e "$beta/removed" ] || fail "a file was removed under a program that has it open"
ctl beta explain edited >"$world/explained" || fail "no explanation: $(cat "$world/explained")"
grep -q "open for writing" "$world/explained" || fail "it is not said why: $(cat "$world/explained")"
exec 7>&- 8>&-
settle
[ "$(cat "$beta/edited")" = second ] || fail "the edit did not come after the close"
[ ! -e "$beta/removed" ] || fail "the delete did not come after the close"

# A reader that wants the file to stay as it is.
exec 7<"$beta/locked"
flock -s 7
echo second >"$alpha/locked"
soon "beta does not wait for the lock" waits_for beta path.busy
[ "$(cat "$beta/locked")" = first ] || fail "a locked file was replaced"
flock -u 7
exec 7<&-
settle
[ "$(cat "$beta/locked")" = second ] || fail "the edit did not come after the lock"

# What is written meanwhile is an edit like any other: neither is lost.
exec 7>>"$beta/both"
echo "by alpha" >"$alpha/both"
soon "beta does not wait for the writer" waits_for beta path.busy
echo "by beta" >&7
exec 7>&-
settle
cat "$alpha"/both* >"$world/kept"
grep -q "by alpha" "$world/kept" || fail "alpha's edit is lost: $(cat "$world/kept")"
grep -q "by beta" "$world/kept" || fail "beta's edit is lost: $(cat "$world/kept")"
