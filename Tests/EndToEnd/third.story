# a third node and wrong tokens are turned away, and the pair goes on
needs openssl
paired_world
for node in alpha beta; do
    ctl "$node" alerts --all | finds peer.rejected && fail "$node was alarmed by being paired"
done
mkdir -p "$world/gamma/folder"
port=$(sed -nE 's/^listen = .*:([0-9]+)$/\1/p' "$world/alpha/syncd.conf")
ctl gamma init --name gamma --folder "$world/gamma/folder" --listen "127.0.0.1:$(free_port 16)" --peer "127.0.0.1:$port" \
    --state "$world/gamma/state" --control "$world/gamma/control" >/dev/null
up gamma
status=0
ctl gamma join syncd1-07qj2yae3sfw3db30hfhe12tb9967fembeqjjpqdmp935s2rbek9yc9j6wq30bhg5rrkmchq6gs31290v6r0 \
    >"$world/out" 2>&1 || status=$?
[ "$status" -eq 1 ] && grep -q "did not make this token" "$world/out" || fail "a foreign token was answered with $status: $(cat "$world/out")"
echo still >"$alpha/f"
settle
ctl alpha unpair >/dev/null && ctl beta unpair >/dev/null
token=$(new_token ctl alpha)
status=0
begun=$(milliseconds)
ctl gamma join "$token" >"$world/out" 2>&1 || status=$?
[ "$status" -eq 1 ] && grep -q "belongs to a pair with another node" "$world/out" || fail "another node took the place of the old peer ($status): $(cat "$world/out")"
[ "$(($(milliseconds) - begun))" -lt 20000 ] || fail "the refusal took its time"
# Nobody was paired by it, so it is still good for the node that it was made for.
ctl beta --json join "$token" >"$world/joined" || fail "a refusal has used the token up: $(cat "$world/joined")"
# Anybody may knock: that is a line of the log and no alert, whether the other node is there or not.
knocks() {
    bash -c "exec 3<>/dev/tcp/127.0.0.1/$port; printf 'GET / HTTP/1.0\r\n\r\n' >&3; cat <&3" >"$world/out" 2>&1
    bash -c "exec 3<>/dev/tcp/127.0.0.1/$port" >"$world/out" 2>&1
    soon "the log does not tell who left" grep -q 'caller.refused: .* was refused: it left before' "$world/alpha/log"
    soon "the log does not tell who speaks no TLS" grep -q 'was refused: it does not speak TLS' "$world/alpha/log"
    ctl alpha alerts | finds peer.rejected && fail "somebody who knocks is taken for the other node"
}
knocks
down beta
soon "alpha does not notice" unlinked alpha
knocks
up beta
settle
# Who calls with another key than that of the pair is sent away, and the administrator hears of it until the two meet again.
down beta
openssl req -x509 -newkey ed25519 -nodes -subj /CN=stranger -days 2 -keyout "$world/key" -out "$world/cert" 2>/dev/null
timeout 10 openssl s_client -alpn syncd/1 -connect "127.0.0.1:$port" -key "$world/key" -cert "$world/cert" </dev/null >/dev/null 2>&1
soon "nobody is told of the stranger" tells alpha peer.rejected alerts
up beta
settle
ctl alpha alerts | finds peer.rejected && fail "the alert stands though the two have met"
echo again >"$beta/g"
settle
