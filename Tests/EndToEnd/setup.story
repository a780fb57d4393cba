# a node that root makes belongs to the owner of its directories, and the daemon runs as that user
needs_root
needs setpriv
as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
"${as_nobody[@]}" "$programs/syncd" --version >/dev/null 2>&1 || skip "another user may not run $programs/syncd"
new_places
chmod 755 "$world"
mkdir "$world/lib" "$world/etc"
chown 65534:65534 "$world/lib" "$alpha" "$world/alpha"
"$programs/syncctl" --config "$world/etc/syncd.conf" init --name alpha --folder "$alpha" \
    --listen "127.0.0.1:$(free_port 0)" --state "$world/lib/alpha" --control "$world/alpha/control" >"$world/out" 2>&1 ||
    fail "init: $(cat "$world/out")"
find "$world/lib" "$alpha" ! -uid 65534 -o ! -gid 65534 >"$world/others"
[ ! -s "$world/others" ] || fail "not given to the owner: $(cat "$world/others")"
[ "$(stat -c '%u %a' "$world/etc/syncd.conf")" = "0 644" ] || fail "the configuration is not root's"
grep -q 'chown' "$world/out" && fail "it complains of owners: $(cat "$world/out")"
# shellcheck disable=SC2034
through_alpha=("${as_nobody[@]}")
cp "$world/etc/syncd.conf" "$world/alpha/syncd.conf"
: >"$world/alpha/log"
up alpha
"$programs/syncctl" --config "$world/etc/syncd.conf" doctor >"$world/out" 2>&1
grep -E '^problem' "$world/out" >"$world/problems" && fail "doctor: $(cat "$world/problems")"
chmod 755 "$alpha/.syncd"
"$programs/syncctl" --config "$world/etc/syncd.conf" doctor >"$world/out" 2>&1
grep -qE '^warning +folder: .*/\.syncd is open to other users' "$world/out" || fail "doctor says nothing of an open .syncd: $(cat "$world/out")"
chmod 700 "$alpha/.syncd"
down alpha

# A folder of somebody else: what to do is said.
mkdir "$world/beta/other"
"$programs/syncctl" --config "$world/etc/beta.conf" init --name beta --folder "$world/beta/other" \
    --state "$world/lib/beta" --control "$world/beta/control" >"$world/out" 2>&1 || fail "init: $(cat "$world/out")"
grep -qF "chown -R --reference=$world/lib/beta $world/beta/other" "$world/out" || fail "nothing is said: $(cat "$world/out")"

# A folder that is not there: it is made, for the owner of the state, also in a directory of root's.
mkdir "$world/srv"
"$programs/syncctl" --config "$world/etc/gamma.conf" init --name gamma --folder "$world/srv/in/shared" \
    --state "$world/lib/gamma" --control "$world/alpha/gamma" >"$world/out" 2>&1 || fail "init: $(cat "$world/out")"
[ "$(stat -c '%u %a' "$world/srv/in/shared")" = "65534 755" ] || fail "the folder is made for nobody"
[ "$(stat -c %u "$world/srv/in" "$world/srv/in/shared/.syncd" | xargs)" = "0 65534" ] || fail "too much or too little is given away"
grep -qF "which was not there: $world/srv/in/shared" "$world/out" || fail "it does not say what it made: $(cat "$world/out")"

# In the folder of a node there is no place for that of another, whatever links lead there.
ln -s "$world/srv/in/shared" "$world/link"
for inner in "$world/srv/in/shared/deep/inner" "$world/link/inner"; do
    "$programs/syncctl" --config "$world/etc/delta.conf" init --name delta --folder "$inner" \
        --state "$world/lib/delta" --control "$world/alpha/delta" >"$world/out" 2>&1 && fail "a folder in a folder is made"
    grep -q 'lies in ".*/srv/in/shared", which is the folder of a node already' "$world/out" || fail "init: $(cat "$world/out")"
    [ ! -e "$inner" ] && [ ! -e "$world/lib/delta" ] && [ ! -e "$world/etc/delta.conf" ] || fail "something was made"
done
