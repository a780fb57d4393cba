# a third node and wrong tokens are turned away, and the pair goes on
paired_world
mkdir -p "$world/gamma/folder"
port=$(sed -nE 's/^listen = .*:([0-9]+)$/\1/p' "$world/alpha/syncd.conf")
ctl gamma init --name gamma --folder "$world/gamma/folder" --listen "127.0.0.1:$(free_port)" --peer "127.0.0.1:$port" \
    --state "$world/gamma/state" --control "$world/gamma/control" >/dev/null
up gamma
status=0
ctl gamma join syncd1-07qj2yae3sfw3db30hfhe12tb9967fembeqjjpqdmp935s2rbek9yc9j6wq30bhg5rrkmchq6gs31290v6r0 \
    >"$world/out" 2>&1 || status=$?
[ "$status" -eq 1 ] || fail "a foreign token was answered with $status: $(cat "$world/out")"
echo still >"$alpha/f"
settle
ctl alpha unpair >/dev/null && ctl beta unpair >/dev/null
token=$(new_token ctl alpha)
status=0
timeout 40 "$programs/syncctl" --config "$world/gamma/syncd.conf" join "$token" >"$world/out" 2>&1 || status=$?
[ "$status" -eq 1 ] || fail "another node took the place of the old peer ($status): $(cat "$world/out")"
pair
echo again >"$beta/g"
settle
