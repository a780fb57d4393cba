# I26: the logs of both nodes can be read on each, and an import is told when it can be seen
paired_world
echo 1 >"$alpha/of-alpha"
settle
echo 2 >"$beta/of-beta"
rm "$beta/of-alpha"
settle
# line NODE KIND PATH: exactly one such line in the log as beta and alpha tell it.
line() {
    local teller
    for teller in alpha beta; do
        [ "$(ctl $teller --json log | grep -c "\"node\":\"$1\".*\"kind\":\"$2\",\"path\":\"$3\"")" -eq 1 ] ||
            fail "$teller does not tell once that $1 changed $3 ($2): $(ctl $teller --json log)"
    done
}
line beta file of-beta
line beta delete of-alpha
tells alpha '"node":"alpha"' log --node beta && fail "the log of beta has lines of alpha"
[ "$(ctl alpha --json log --node beta | wc -l)" -eq 2 ] || fail "not both changes of beta: $(ctl alpha --json log --node beta)"
[ "$(ctl alpha --json log -n 1 | wc -l)" -eq 1 ] || fail "more than one line for -n 1"
ctl alpha log --node nobody >"$world/out" 2>&1 && fail "there is a log of nobody"
ctl alpha --json events | grep '"event":"import.finished"' >"$world/events" || fail "no import is told: $(ctl alpha --json events)"
grep -q '"from":"beta","firstSeq":1,.*"applied":[12],"held":0,"repaired":0,"quarantined":0,"milliseconds":' "$world/events" ||
    fail "the import is not told as it was: $(cat "$world/events")"
ctl alpha --json log --follow -n 1 >"$world/followed" &
follower=$!
sleep 0.3
echo 3 >"$beta/later"
settle
soon "log --follow tells nothing of beta" grep -q '"node":"beta".*"path":"later"' "$world/followed"
kill "$follower"
ctl alpha approve >"$world/out" 2>&1 && fail "there was something to approve"
grep -q 'no deletions wait' "$world/out" || fail "approve does not say that nothing waits: $(cat "$world/out")"
