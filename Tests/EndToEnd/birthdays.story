# an application on the library, its list in the shared folder of two nodes: first run, both sides, locks, an upgrade of one, damage
if [ ! -x "$programs/birthdays" ]; then skip "birthdays was not built beside syncd"; fi
new_world
for node in alpha beta; do
    mkdir -p "$world/models-$node"
    cat >"$world/models-$node/birthdays.json" <<EOF
{ "model": "net.syncd.birthdays", "formats": [
  { "name": "birthdays", "files": "*.birthdays", "version": {"json": "/format"}, "supports": [1, 2] } ] }
EOF
    sed -i "s|^;* *models = .*|models = $world/models-$node|" "$world/$node/syncd.conf"
done
sed -i 's/\[1, 2\]/[1, 1]/' "$world/models-beta/birthdays.json"
up alpha
up beta
pair
settle
# on NODE FORMAT WHAT...: the program on that node.
on() {
    local node=$1 format=$2
    shift 2
    "$programs/birthdays" --format "$format" --socket "$world/$node/control" "${!node}/our.birthdays" "$@"
}

# Looking at what is not there makes nothing; the first name makes the file.
on alpha 1 list || fail "a first run is no failure"
[ ! -e "$alpha/our.birthdays" ] || fail "looking has made a file"
on alpha 1 add "Ada Lovelace" 1815-12-10 || fail "the first name"
settle
on beta 1 add "Emmy Noether" 1882-03-23 || fail "the second name"
settle
[ "$(on alpha 1 list)" = "1882-03-23  Emmy Noether
1815-12-10  Ada Lovelace" ] || fail "alpha has $(on alpha 1 list)"
same_trees || fail "the trees differ"

# Ten at once on one node, each its own process: none is lost.
for turn in 0 1 2 3 4 5 6 7 8 9; do on alpha 1 add "Guest $turn" 2000-01-0$((turn % 9 + 1)) >"$world/add-$turn" 2>&1 & done
count() { [ "$(on "$1" 1 list | grep -c Guest)" = 10 ]; }
soon "additions of ten processes are lost: $(on alpha 1 list)" count alpha
settle
soon "beta does not have them" count beta

# Who holds the list keeps the program waiting, not failing.
ctl alpha lock "$alpha/our.birthdays" -- sleep 1 &
soon "the lock is not there" tells alpha '"locks":1' status
on alpha 1 remove "Guest 0" || fail "a locked list is a failure"
[ "$(on alpha 1 list | grep -c Guest)" = 9 ] || fail "nothing was removed"

# What the program does not know stays, and one bad entry takes nobody along.
settle
sed -i 's/^{/{"theme": 1.50,/; s/"people": \[/"people": [{"name": 7},/' "$alpha/our.birthdays"
settle
on beta 1 add "Mary Somerville" 1780-12-26 || fail "a bad entry is a failure"
settle
grep -q '"theme": 1.50' "$alpha/our.birthdays" || fail "a member that nobody knows was lost"
grep -q '{"name": 7}' "$alpha/our.birthdays" || fail "an entry that could not be read was lost"

# D13: one node upgrades: the list becomes one of format 2, and the old program leaves it alone, says so, and nothing is lost.
on alpha 2 add "Grace Hopper" 1906-12-09 || fail "the upgrade"
settle
ended=0
on beta 1 list >"$world/refused" || ended=$?
[ "$ended" = 1 ] && grep -q "upgrade" "$world/refused" || fail "the old program says ($ended) $(cat "$world/refused")"
before=$(stat -c '%i %Y' "$beta/our.birthdays"; sha256sum <"$beta/our.birthdays")
ended=0
on beta 1 add "Nobody" 1999-01-01 >"$world/refused" || ended=$?
[ "$ended" = 1 ] || fail "the old program wrote over the new format"
ended=0
on beta 1 reinit >"$world/refused" || ended=$?
[ "$ended" = 1 ] || fail "the old program began the new format anew"
[ "$(stat -c '%i %Y' "$beta/our.birthdays"; sha256sum <"$beta/our.birthdays")" = "$before" ] || fail "the newer list was touched"
soon "no alert tells of it" warns_of beta format.newer
on beta 2 list | finds "Grace Hopper" || fail "the new program cannot read it on the other node"
on beta 2 list | finds "Ada Lovelace" || fail "the upgrade lost a name"

# Damage (D12): refused with the place, kept beside, begun anew only when asked.
printf 'broken' >"$alpha/other.birthdays"
ended=0
"$programs/birthdays" --socket "$world/alpha/control" "$alpha/other.birthdays" add A 2000-01-01 >"$world/refused" || ended=$?
[ "$ended" = 1 ] && grep -q "at byte 0" "$world/refused" || fail "damage: ($ended) $(cat "$world/refused")"
# D14: what is wrong, and where, also for programs that ask syncctl.
tells alpha '"outcome":"corrupt","model":"net.syncd.birthdays"' doc check "$alpha/other.birthdays" || fail "doc check: $(cat "$world/told")"
grep -qE '"offset":0,"detail":"[^"]' "$world/told" || fail "doc check does not say where: $(cat "$world/told")"
"$programs/birthdays" --socket "$world/alpha/control" "$alpha/other.birthdays" reinit || fail "reinit"
[ "$(cat "$alpha/other.birthdays.unreadable-1")" = broken ] || fail "the damaged bytes are gone"

# Without a daemon it works, too.
down alpha
on alpha 2 add "Alan Turing" 1912-06-23 || fail "without a daemon"
for turn in 0 1 2 3 4 5 6 7; do on alpha 2 add "Late $turn" 2001-01-01 >"$world/late-$turn" 2>&1 & done
late() { [ "$(on alpha 2 list | grep -c Late)" = 8 ]; }
soon "without a daemon additions of eight processes are lost: $(on alpha 2 list)" late
up alpha
settle
on beta 2 list | finds "Alan Turing" || fail "what was added without a daemon does not arrive"
