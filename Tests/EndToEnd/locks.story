# locks hold paths still on both nodes: commands under one run one after the other, files wait with a reason, and a lock ends however its command does
paired_world
mkdir "$alpha/d"
echo 0 >"$alpha/d/count"
settle

# The exit code is the command's, and the lock ends with it.
ended=0
ctl alpha lock "$alpha/d" -- sh -c 'exit 7' || ended=$?
[ "$ended" = 7 ] || fail "the exit code of the command is $ended"
[ "$(ctl alpha --json locks)" = '{"locks":[]}' ] || fail "a lock outlived its command: $(ctl alpha --json locks)"
# What is syncd's own nobody else holds still.
ctl alpha lock "$alpha/.syncd/stage" -- true 2>"$world/refused" && fail "syncd's own directory can be locked"
grep -qF request.outside "$world/refused" || fail "it is not said why: $(cat "$world/refused")"

# Without time to wait: what nobody has is granted by both nodes, and what the other has is not.
for node in alpha beta; do
    soon "$node does not grant what nobody has" ctl $node lock "${!node}/d" --timeout 0 -- true 2>"$world/refused"
    ctl $node lock "${!node}/d" --timeout 0 -- true || fail "$node does not grant the same once more"
done
ctl alpha lock "$alpha/d" >"$world/locked" || fail "no lock: $(cat "$world/locked")"
ended=0
ctl beta lock "$beta/d" --timeout 0 -- true 2>"$world/refused" || ended=$?
[ "$ended" = 2 ] || fail "beta was given what alpha holds ($ended): $(cat "$world/refused")"
ctl alpha unlock "$alpha/d" >"$world/unlocked" || fail "unlock: $(cat "$world/unlocked")"

# C1: ten on one node add one each under a lock, and none is lost.
for turn in 1 2 3 4 5 6 7 8 9 10; do
    ctl alpha lock "$alpha/d/count" -- sh -c "n=\$(cat '$alpha/d/count'); sleep 0.05; echo \$((n + 1)) >'$alpha/d/count'" \
        2>"$world/lock-$turn" &
done
soon "additions under a lock are lost: $(cat "$alpha/d/count")" grep -qx 10 "$alpha/d/count"
settle

# While a program of beta holds the file, nothing is put there, with a reason; then it comes.
ctl beta lock "$beta/d" >"$world/locked" || fail "no lock: $(cat "$world/locked")"
tells beta '"locks":1' status || fail "the status does not count the lock"
tells beta '"mode":"pair"' locks || fail "the lock is not listed: $(cat "$world/told")"
grep -qF '"process":' "$world/told" && fail "a process is named that has ended: $(cat "$world/told")"
echo 11 >"$alpha/d/count"
soon "no reason is shown" waits_for beta lock.held
grep -qx 10 "$beta/d/count" || fail "a held file was changed"

# Nor does a person get it changed by the daemon, who is told why.
ended=0
ctl beta --json restore "$beta/d/count" >"$world/refused" || ended=$?
[ "$ended" = 1 ] && grep -q '"code":"lock.held","text":"a program has a lock' "$world/refused" ||
    fail "restore over a held file is not refused ($ended): $(cat "$world/refused")"
grep -qx 10 "$beta/d/count" || fail "a held file was changed by restore"

# A lock of both nodes waits for it on the other one as well, and one of this node alone does not.
ended=0
ctl alpha lock "$alpha/d/count" --timeout 0.5 -- true 2>"$world/refused" || ended=$?
[ "$ended" = 2 ] || fail "alpha was given what beta holds ($ended): $(cat "$world/refused")"
ctl alpha lock "$alpha/d/count" --mode local -- true || fail "a lock of this node alone waits for the other"
ctl beta unlock "$beta/d" >"$world/unlocked" || fail "unlock: $(cat "$world/unlocked")"
soon "what waited for the lock does not come" grep -qx 11 "$beta/d/count"
settle

# Readers share, writers do not; kill -9 gives a lock back.
ctl beta lock "$beta/d/count" --read || fail "no lock to read"
ctl alpha lock "$alpha/d/count" --read --timeout "$patience" -- true || fail "two readers do not share"
ended=0
ctl alpha lock "$alpha/d/count" --timeout 0.5 -- true 2>"$world/refused" || ended=$?
[ "$ended" = 2 ] || fail "a writer was let in beside a reader ($ended)"
ctl beta unlock
"$programs/syncctl" --config "$world/alpha/syncd.conf" lock "$alpha/d/count" -- sleep 60 &
holder=$!
soon "the lock is not held" tells alpha '"holder":"sleep"' locks
# C4: who is refused hears which process has it, and for how long.
for mode in local pair; do
    ended=0
    ctl alpha --json lock "$alpha/d/count" --mode $mode --timeout 0 -- true >"$world/refused" || ended=$?
    [ "$ended" = 2 ] && grep -qE "\"holder\":\{\"process\":$holder,\"purpose\":null,\"heldMilliseconds\":[0-9]+\}" "$world/refused" ||
        fail "who has a lock of mode $mode is not said ($ended): $(cat "$world/refused")"
done
kill -9 "$holder"
ctl beta lock "$beta/d/count" --timeout "$patience" -- true || fail "a lock of a killed program is held for ever"

# C6: what lies in a directory that is marked as a package is held as the whole of it, wherever its path is typed.
mkdir -p "$alpha/p/in"
touch "$alpha/p/.syncd-package" "$alpha/p/one" "$alpha/p/in/two"
settle
ctl beta lock "$beta/p/one" >"$world/locked" || fail "no lock: $(cat "$world/locked")"
tells beta '"paths":[{"path":"p"}]' locks || fail "a part of a package is not held as the package: $(cat "$world/told")"
ended=0
(cd "$alpha/p" && ctl alpha lock in/two --timeout 0.5 -- true) 2>"$world/refused" || ended=$?
[ "$ended" = 2 ] || fail "two parts of a package were held by two ($ended): $(cat "$world/refused")"
ended=0
(cd / && ctl beta lock p/in/two --timeout 0.5 -- true) 2>"$world/refused" || ended=$?
[ "$ended" = 2 ] || fail "two parts of a package were held by two ($ended): $(cat "$world/refused")"
ctl beta unlock "$beta/p/in/two" >"$world/unlocked" || fail "unlock: $(cat "$world/unlocked")"
[ "$(ctl beta --json locks)" = '{"locks":[]}' ] || fail "a package is held still: $(ctl beta --json locks)"

# Who asks the lock to end asks its command: the lock stays until that has ended, by whatever signal, and its exit code is passed on.
# (Whoever runs this under nohup has SIGHUP ignored, which a shell cannot undo for what it starts.)
for signal in TERM HUP; do
    env --default-signal=TERM,HUP "$programs/syncctl" --config "$world/alpha/syncd.conf" lock "$alpha/d/count" -- \
        sh -c 'trap "sleep 1; echo ended >>\"\$0\"; exit 9" TERM HUP; echo ready >"$0"; while :; do sleep 0.1; done' \
        "$world/ends-$signal" &
    holder=$!
    soon "the command does not run" grep -qsx ready "$world/ends-$signal"
    kill -s "$signal" "$holder"
    sleep 0.3
    tells alpha '"holder":"sh"' locks || fail "SIG$signal took the lock from a command that goes on"
    ended=0
    wait "$holder" || ended=$?
    [ "$ended" = 9 ] || fail "after SIG$signal the exit code of the command is $ended"
    grep -qx ended "$world/ends-$signal" || fail "the command was not asked to end by SIG$signal"
done
ended=0
"$programs/syncctl" --config "$world/alpha/syncd.conf" lock "$alpha/d/count" -- sleep 60 &
holder=$!
soon "the lock is not held" tells alpha '"holder":"sleep"' locks
kill -TERM "$holder"
wait "$holder" || ended=$?
[ "$ended" = 143 ] || fail "a command that was ended by SIGTERM is told as $ended"

# With the link cut, strict refuses at once, and what is asked of the folder only works.
down alpha
ended=0
ctl beta lock "$beta/d" --mode strict -- true 2>"$world/refused" || ended=$?
[ "$ended" = 1 ] && grep -q "peer.away\|away" "$world/refused" || fail "strict does not refuse ($ended): $(cat "$world/refused")"
ctl beta lock "$beta/d" --mode local -- true || fail "a local lock needs the peer"
ended=0
ctl beta lock "$world/elsewhere" -- true 2>"$world/refused" || ended=$?
[ "$ended" = 1 ] || fail "a path outside of the folder was locked ($ended)"
up alpha
settle
