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
down alpha

# A folder of somebody else: what to do is said.
mkdir "$world/beta/other"
"$programs/syncctl" --config "$world/etc/beta.conf" init --name beta --folder "$world/beta/other" \
    --state "$world/lib/beta" --control "$world/beta/control" >"$world/out" 2>&1 || fail "init: $(cat "$world/out")"
grep -qF "chown -R --reference=$world/lib/beta $world/beta/other" "$world/out" || fail "nothing is said: $(cat "$world/out")"
