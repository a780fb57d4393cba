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

# A name that is made the same later stops nothing, and doctor tells of it on both nodes.
# called NAME: beta is started anew with this name, and both know.
called() {
    down beta
    sed -i "s/^name = .*/name = $1/" "$world/beta/syncd.conf"
    up beta
    settle
}
same_name() { tells "$1" '"check":"name","grade":"warning"' doctor; }
other_name() { ! same_name "$1"; }
for node in alpha beta; do other_name $node || fail "$node takes two names for one: $(cat "$world/told")"; done
called node-1
for node in alpha beta; do soon "$node does not tell of the name" same_name $node; done
ctl beta doctor >"$world/out"
grep -qF 'This node is called "node-1" and the other one "node.1"' "$world/out" || fail "doctor does not say which: $(cat "$world/out")"
echo two >"$beta/two"
settle
called beta
for node in alpha beta; do soon "$node still tells of the name" other_name $node; done
