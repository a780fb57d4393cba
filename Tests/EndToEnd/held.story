# a file that a program has open for writing, or holds a lock on, is replaced and removed only when it lets go
paired_world
needs flock perl
for name in edited removed locked ranged both; do echo first >"$alpha/$name"; done
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

# The same by a lock of an open file (F_OFD_SETLK) on one byte of it.
perl -e '
    open(my $file, "<", $ARGV[0]) or die "open: $!";
    my $lock = pack("s s x4 q q i x4", 0, 0, 7, 1, 0);
    fcntl($file, 37, $lock) or die "lock: $!";
    open(my $done, ">", $ARGV[1]) or die "tell: $!"; close($done);
    sleep(1) until -e $ARGV[2];
' "$beta/ranged" "$world/ranged" "$world/let-go" &
soon "the file is not locked" test -e "$world/ranged"
echo second >"$alpha/ranged"
soon "beta does not wait for the lock of an open file" waits_for beta path.busy
[ "$(cat "$beta/ranged")" = first ] || fail "a file was replaced under a lock of an open file"
touch "$world/let-go"
settle
[ "$(cat "$beta/ranged")" = second ] || fail "the edit did not come after the lock of an open file"

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
