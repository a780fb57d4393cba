# a node gets a new key while it is paired; whoever is killed in between, the two meet again, and nothing else changes
needs openssl
new_world
up alpha
up beta
expect() {
    local status=0 wanted=$1
    shift
    "$@" >"$world/out" 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || fail "$* ended with $status and not $wanted: $(cat "$world/out")"
}
expect 1 ctl beta renew-key
grep -q pairing.none "$world/out" || fail "there is nobody to tell: $(cat "$world/out")"
pair
mkdir "$alpha/d" && echo one >"$alpha/d/one" && echo two >"$beta/two"
settle

# key NODE: what its key.pem is known by. said NODE, and accepted NODE: what its status says of its own key, and of the other's.
key() { echo "sha256:$(openssl pkey -in "$world/$1/state/identity/key.pem" -pubout -outform DER | sha256sum | cut -d ' ' -f 1)"; }
said() { ctl "$1" --json status | sed -nE 's/.*"uptimeSeconds":[0-9]+,"key":"([^"]+)".*/\1/p'; }
accepted() { ctl "$1" --json status | sed -nE 's/.*"peer":\{[^}]*"key":"([^"]+)".*/\1/p'; }
id() { ctl "$1" --json status | sed -nE 's/.*"node":\{"name":"[a-z]+","id":"([^"]+)".*/\1/p'; }
id_of_other() { ctl "$1" --json status | sed -nE 's/.*"peer":\{"name":"[a-z]+","id":"([^"]+)".*/\1/p'; }
# renewed NODE: its key is in use, alone, and the other accepts it and no other.
renewed() {
    local other=alpha
    if [ "$1" = alpha ]; then other=beta; fi
    [ "$(key "$1")" = "$(said "$1")" ] && [ "$(accepted $other)" = "$(key "$1")" ] &&
        [ "$(ls "$world/$1/state/identity")" = key.pem ]
}
renewed alpha && renewed beta || fail "the keys are not those of the pair"
first=$(key beta) name=$(id beta)
[ "$name" = "$first" ] || fail "a fresh node is called after its key"
cp "$world/beta/state/identity/key.pem" "$world/first.pem"

epochs() { ctl beta --json log --node beta | grep -o '"epoch":[^,]*' | sort -u; }
epochs >"$world/epochs"
ctl beta --json renew-key >"$world/out" || fail "no new key: $(cat "$world/out")"
[ "$(cat "$world/out")" = "{\"key\":\"$(key beta)\",\"former\":\"$first\"}" ] || fail "it says $(cat "$world/out")"
[ "$(key beta)" != "$first" ] || fail "the key is the same"
soon "alpha does not accept the new key alone" renewed beta
[ "$(id beta)" = "$name" ] && [ "$(id_of_other alpha)" = "$name" ] || fail "beta is somebody else now"
for node in alpha beta; do
    grep -q '^syncd: key.renewed "beta": ' "$world/$node/log" || fail "the log of $node does not tell"
    grep -q '^syncd: key.offered: ' "$world/$node/log" || fail "the log of $node does not tell that a new key comes"
    ctl "$node" --json events | finds '"code":"key.renewed"' || fail "the events of $node do not tell"
done
[ "$(stat -c %a "$world/beta/state/identity/key.pem")" = 600 ] || fail "others can read the key"
echo three >"$alpha/d/three" && echo more >>"$beta/two"
settle
no_conflicts
epochs | cmp -s - "$world/epochs" || fail "the log of beta has begun anew: $(epochs)"
ctl alpha log verify >"$world/out" || fail "the logs do not verify: $(cat "$world/out")"
# Whoever has the key of before gets in no more.
openssl req -x509 -key "$world/first.pem" -subj /CN=syncd -days 2 -out "$world/cert" 2>/dev/null
down beta
timeout 10 openssl s_client -alpn syncd/1 -connect "$address:$port" -key "$world/first.pem" -cert "$world/cert" </dev/null >/dev/null 2>&1
soon "alpha does not refuse the former key" grep -q "was refused: its key is $first" "$world/alpha/log"
expect 1 ctl alpha renew-key
grep -q peer.away "$world/out" || fail "the other node is away: $(cat "$world/out")"
up beta
settle
# Both can, also without a person who waits.
ctl alpha renew-key >"$world/out" || fail "no new key: $(cat "$world/out")"
grep -q "$(key alpha)" "$world/out" || fail "people are not told of the key: $(cat "$world/out")"
soon "beta does not accept the new key alone" renewed alpha
down alpha
up alpha
settle

# As long as it is not through, status says so: of the one that has a new key, and of the other.
if ctl beta status | finds '^  key ' || tells beta Key status; then fail "status tells of a renewal that is over: $(ctl beta --json status)"; fi
kill -STOP "$(cat "$world/alpha/pid")"
ctl beta renew-key >"$world/renewed" 2>&1 &
asking=$!
soon "status does not tell of the new key" tells beta '"nextKey":"sha256:' status
ctl beta status >"$world/out" || true
kill -CONT "$(cat "$world/alpha/pid")"
grep -q '^  key     a new one is offered to alpha, which has not taken it yet$' "$world/out" || fail "people are not told of it: $(cat "$world/out")"
wait $asking || grep -q 'goes on by itself' "$world/renewed" || fail "no new key: $(cat "$world/renewed")"
soon "alpha does not accept the new key alone" renewed beta
soon "status tells of it though it is through" eval "! tells beta Key status && ! tells alpha Key status"

# Unpaired and paired anew they are the same two; so is a node whose state is lost, to one that has another key than name.
expect 0 ctl beta unpair
expect 0 ctl alpha unpair
pair
settle
[ "$(id_of_other alpha)" = "$name" ] || fail "alpha takes beta for somebody else"
down alpha
mkdir "$world/lost" && mv "$world"/alpha/state/state.db* "$world/lost/"
up alpha
expect 0 ctl beta unpair
pair
settle
no_conflicts
[ "$(id_of_other alpha)" = "$name" ] && [ "$(id_of_other beta)" = "$(id alpha)" ] || fail "they do not know each other's names"
ctl alpha renew-key >"$world/out" || fail "no new key: $(cat "$world/out")"
soon "beta does not accept the new key alone" renewed alpha

# Killed before each call that makes something durable, on either node, each time one call later, until a renewal gets through.
if ! command -v strace >/dev/null; then skip "there is no strace to kill with"; fi
# traced NODE: all its threads. over: the command has ended, or the node that is to be killed is.
traced() {
    local pid
    pid=$(cat "$world/$1/pid")
    is_down "$1" || ! grep -qE '^TracerPid:[[:space:]]+0$' "/proc/$pid"/task/*/status 2>/dev/null
}
over() { is_down "$victim" || ! kill -0 "$asking" 2>/dev/null; }
deaths=0 halfway=0
for victim in beta alpha; do
    for call in fsync fdatasync rename unlink; do
        for ((n = 1; ; n++)); do
            strace -f -qq -o "$world/trace" -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" \
                -p "$(cat "$world/$victim/pid")" 2>"$world/tracing" &
            tracer=$!
            soon "strace cannot trace" traced $victim
            ctl beta renew-key >"$world/renewed" 2>&1 &
            asking=$!
            soon "the renewal does not end" over
            # It may be killed after the command is through, or not at all.
            if ! is_down $victim && wait $asking; then
                kill -KILL $tracer
                if tells $victim '"schema":1' status; then break; fi
            fi
            soon "nobody was killed, and it ended badly: $(cat "$world/renewed")" is_down $victim
            deaths=$((deaths + 1))
            if [ $victim = beta ] && tells alpha '"nextKey":"sha256:' status; then halfway=$((halfway + 1)); fi
            down $victim
            [ "$ended" -eq 137 ] || fail "$victim ended with $ended: $(tail -n 3 "$world/$victim/log")"
            up $victim
            echo "$victim $call $n" >>"$alpha/deaths"
            agree
            soon "after a kill of $victim at its $call $n the keys are not those of the pair" renewed beta
            # The other way round nobody is there to answer. It may be killed before beta asks.
            if [ $victim = alpha ]; then
                wait $asking || grep -q peer.away "$world/renewed" || fail "alpha was killed, and beta says $(cat "$world/renewed")"
            fi
        done
    done
done
settle
no_conflicts
[ "$(id beta)" = "$name" ] && [ "$(id_of_other alpha)" = "$name" ] || fail "beta is somebody else now"
ctl alpha log verify >"$world/out" || fail "the logs do not verify: $(cat "$world/out")"
[ "$deaths" -ge 12 ] || fail "only $deaths kills"
[ "$halfway" -ge 1 ] || fail "alpha never said that beta is about to use a new key"
echo "    $deaths kills" >&2
