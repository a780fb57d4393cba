# a server dies for good: the other one forgets it, is paired with a new one, and keeps everything; the dead one that comes back is turned away
needs strace
new_world
up alpha
up beta
expect() {
    local status=0 wanted=$1
    shift
    "$@" >"$world/out" 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || fail "$* ended with $status and not $wanted: $(cat "$world/out")"
}
id() { ctl "$1" --json status | sed -nE 's/.*"node":\{"name":"[a-z]+","id":"([^"]+)".*/\1/p'; }
epochs() { ctl alpha --json log --node alpha | grep -o '"epoch":[^,]*' | sort -u; }
versions() { ctl "$1" --json history "$alpha/$2" | grep -o '"id":"[^"]*","time":"[^"]*","node":"[^"]*"'; }
is_unpaired() { tells "$1" '"peer":null' status; }
expect 1 ctl alpha unpair --forget
grep -q pairing.none "$world/out" || fail "there is nobody to forget: $(cat "$world/out")"
pair
mkdir "$alpha/d" && echo one >"$alpha/d/one" && echo first >"$alpha/text" && echo gone >"$alpha/gone"
settle
echo second >"$beta/text"
settle
echo third >"$beta/text" && rm "$beta/gone"
settle
# A conflict that nobody has settled.
down beta
echo left >"$alpha/d/one"
echo right >"$beta/d/one"
up beta
settle
ctl alpha --json conflicts | grep -o '"id":"c[0-9a-f]*","code"' | sort >"$world/conflicts"
[ -s "$world/conflicts" ] || fail "there is no conflict"
name=$(id alpha)
sum=$(sha256sum <"$world/alpha/state/identity/key.pem")

# Killed before each call that changes the state directory, each time one call later: what it comes back with is the pair of before or none.
# Who has forgotten the other may be paired with it again all the same.
traced() {
    local pid
    pid=$(cat "$world/alpha/pid")
    is_down alpha || ! grep -qE '^TracerPid:[[:space:]]+0$' "/proc/$pid"/task/*/status 2>/dev/null
}
over() { is_down alpha || ! kill -0 "$asking" 2>/dev/null; }
deaths=0 forgotten=0
for call in fsync fdatasync rename,renameat,renameat2 unlink,unlinkat; do
    for ((n = 1; ; n++)); do
        strace -f -qq -o "$world/trace" -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" \
            -p "$(cat "$world/alpha/pid")" 2>"$world/tracing" &
        tracer=$!
        soon "strace cannot trace" traced
        ctl alpha unpair --forget >"$world/asked" 2>&1 &
        asking=$!
        soon "forgetting does not end" over
        # It may be killed after the command is through, or not at all.
        is_through=false
        if ! is_down alpha && wait $asking; then
            kill -KILL $tracer
            if is_unpaired alpha; then is_through=true; fi
        fi
        if ! $is_through; then
            soon "nobody was killed, and it ended badly: $(cat "$world/asked")" is_down alpha
            deaths=$((deaths + 1))
            down alpha
            [ "$ended" -eq 137 ] || fail "alpha ended with $ended: $(tail -n 3 "$world/alpha/log")"
            up alpha
        fi
        if is_unpaired alpha; then
            forgotten=$((forgotten + 1))
            versions alpha text >"$world/after-kill"
            expect 0 ctl beta unpair
            pair
        fi
        echo "$call $n" >"$beta/d/death-$call-$n"
        settle
        ctl alpha --json conflicts | grep -o '"id":"c[0-9a-f]*","code"' | sort | cmp -s - "$world/conflicts" ||
            fail "after a kill at $call $n the conflicts are $(ctl alpha --json conflicts)"
        if $is_through; then break; fi
    done
done
[ "$deaths" -ge 8 ] && [ "$forgotten" -ge 4 ] || fail "only $deaths kills, $forgotten times forgotten"
echo "    $deaths kills, $forgotten times forgotten" >&2

# The other server dies. What was done since it has not heard of.
down beta KILL
echo late >"$alpha/late" && echo fourth >"$alpha/text" && rm "$alpha"/d/death-*
soon "alpha does not notice" unlinked alpha
versions alpha text >"$world/before" && [ -s "$world/before" ] || fail "there are no earlier versions"
grep -q '"node":"beta"' "$world/before" || fail "no version is by beta: $(cat "$world/before")"
epochs >"$world/epochs"
mkdir -p "$world/gamma/folder/d"
gamma=$world/gamma/folder
ctl gamma init --name gamma --folder "$gamma" --listen "127.0.0.1:$(free_port 16)" --peer "127.0.0.1:$port" \
    --state "$world/gamma/state" --control "$world/gamma/control" >/dev/null
echo own >"$gamma/own" && echo other >"$gamma/late" && touch -d '2020-01-01' "$gamma/late"
cp -p "$alpha/text" "$gamma/text" && echo gone >"$gamma/gone"
up gamma
expect 0 ctl alpha unpair
token=$(new_token ctl alpha)
expect 1 ctl gamma join "$token"
grep -q "syncctl unpair --forget there" "$world/out" || fail "the one who joins is not told what to do: $(cat "$world/out")"
grep -q "syncctl unpair --forget on this node" "$world/alpha/log" || fail "the one who invites is not told what to do"
expect 0 ctl alpha --json unpair --forget
grep -q '"done":true' "$world/out" || fail "it says $(cat "$world/out")"
copy=$(sed -nE 's/.*(state\.db\.before-forgetting-[0-9-]+).*/\1/p' "$world/out")
[ -s "$world/alpha/state/$copy" ] && [ "$(stat -c %a "$world/alpha/state/$copy")" = 600 ] || fail "the state of before is not kept: $(cat "$world/out")"
is_unpaired alpha || fail "alpha is still paired"
token=$(new_token ctl alpha)
expect 0 ctl gamma join "$token"
agree_new() {
    local node
    for node in alpha gamma alpha; do
        ctl "$node" wait --for in-sync --timeout "$patience" >"$world/waited" 2>&1 ||
            fail "$node is not in sync: $(cat "$world/waited"; ctl "$node" --json status)"
    done
    diff <(picture "$alpha") <(picture "$gamma") >"$world/difference" || fail "the folders differ: $(head -n 10 "$world/difference")"
}
agree_new
[ "$(cat "$gamma/late")" = late ] && [ "$(cat "$gamma/text")" = fourth ] && [ "$(cat "$alpha/own")" = own ] || fail "the wrong contents stand there"
kept_somewhere "$(echo other | sha256sum | cut -d ' ' -f 1)" "what only gamma had"
[ "$(cat "$alpha/gone")" = gone ] || fail "a file of gamma counts as deleted"
[ "$(id alpha)" = "$name" ] && [ "$(sha256sum <"$world/alpha/state/identity/key.pem")" = "$sum" ] || fail "alpha is somebody else"
epochs >"$world/out"
if grep -qxFf "$world/epochs" "$world/out"; then fail "the log goes on as before: $(cat "$world/out")"; fi
versions alpha text >"$world/after"
grep -xFf "$world/before" "$world/after" | cmp -s - "$world/before" || fail "of $(cat "$world/before") there is $(cat "$world/after")"
ctl alpha --json conflicts | grep -o '"id":"c[0-9a-f]*","code"' >"$world/out"
[ "$(grep -cxFf "$world/conflicts" "$world/out")" -eq "$(wc -l <"$world/conflicts")" ] || fail "the conflict is forgotten"
oldest=$(tail -n 1 "$world/before" | sed -E 's/"id":"([^"]*)".*/\1/')
expect 0 ctl alpha restore "$alpha/text" --version "$oldest" --to "$alpha/restored"
[ "$(cat "$alpha/restored")" = first ] || fail "it brought back $(cat "$alpha/restored")"
agree_new
[ "$(cat "$gamma/restored")" = first ] || fail "gamma does not have what was brought back"
ctl alpha log verify >"$world/out" || fail "the logs do not verify: $(cat "$world/out")"

# The dead one rises. It is told, and so is whoever looks at alpha; the pair of now goes on.
up beta
soon "beta is not told" warns_of beta peer.rejected
ctl beta --json alerts | finds 'unpair --forget' || fail "beta is not told what to do: $(ctl beta --json alerts)"
soon "alpha does not tell who knocks" grep -q 'was refused: it is "beta", which this node was told to forget' "$world/alpha/log"
if warns_of alpha peer.rejected; then fail "alpha takes who knocks for its partner"; fi
echo after >"$gamma/after"
agree_new
[ ! -e "$beta/after" ] || fail "beta got something"

# What was kept aside is the state of the pair of before: put back it is as one from a backup, and the two can meet again.
down alpha
down gamma
mkdir "$world/newer" && mv "$world"/alpha/state/state.db "$world/newer/" && cp "$world/alpha/state/$copy" "$world/alpha/state/state.db"
up alpha
expect 0 ctl beta unpair
pair
settle
[ "$(cat "$beta/after")" = after ] && [ "$(cat "$beta/text")" = fourth ] || fail "beta does not have what came meanwhile"
versions alpha text >"$world/after"
grep -xFf "$world/before" "$world/after" | cmp -s - "$world/before" || fail "of $(cat "$world/before") there is $(cat "$world/after")"
