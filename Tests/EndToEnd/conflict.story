# both edit one file while apart: the later stays, the other is a conflict copy on both
paired_world
echo base >"$alpha/f.txt"
settle
down beta
echo from alpha >"$alpha/f.txt"
sleep 0.1
echo from beta >"$beta/f.txt"
up beta
settle
[ "$(cat "$alpha/f.txt")" = "from beta" ] || fail "the earlier edit kept the name"
copies=("$alpha"/f.conflict-alpha-*.txt)
[ "$(cat "${copies[0]}")" = "from alpha" ] || fail "no conflict copy"
ctl alpha --json conflicts | grep -q '"kind":"file"' || fail "the conflict is not listed"
