# two nodes of one name are no pair, because nobody could tell whose a conflict copy is; with another name the same token will do
new_world
# (As copies bear it: there a dot is a dash.)
sed -i 's/^name = alpha$/name = node.1/' "$world/alpha/syncd.conf"
sed -i 's/^name = beta$/name = node-1/' "$world/beta/syncd.conf"
up alpha
up beta
token=$(new_token ctl alpha)
status=0
ctl beta join "$token" >"$world/out" 2>&1 || status=$?
[ "$status" -eq 1 ] && grep -q 'pairing.failed' "$world/out" && tr '\n' ' ' <"$world/out" | finds -E 'have +the +same +name' ||
    fail "two nodes of one name are paired ($status): $(cat "$world/out")"
for node in alpha beta; do tells $node '"peer":null' status || fail "$node is paired: $(cat "$world/told")"; done
grep -q 'pairing.failed: Both nodes have the same name' "$world/alpha/log" || fail "alpha does not say why: $(tail -n 3 "$world/alpha/log")"
down beta
sed -i 's/^name = node-1$/name = beta/' "$world/beta/syncd.conf"
up beta
ctl beta --json join "$token" >"$world/joined" || fail "joining failed: $(cat "$world/joined")"
echo one >"$alpha/one"
settle
