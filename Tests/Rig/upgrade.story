# one node is upgraded while it is up, then the other; the state of a newer program is refused by an older one, untouched
install_on alpha
install_on beta
pair
user alpha 'echo one >one'
settle
# The same program under a later number.
mkdir "$world/later"
dpkg-deb --raw-extract "$package" "$world/later" || broken "the package cannot be taken apart"
sed -i 's/^Version: .*/&+rig1/' "$world/later/DEBIAN/control"
dpkg-deb --root-owner-group --build "$world/later" "$world/later.deb" >"$world/out" || broken "$(cat "$world/out")"
for node in alpha beta; do
    before=$(on "$node" stat -c '%i %Y %s' /var/lib/syncd/default/identity/key.pem)
    install_on "$node" "$world/later.deb"
    is_off "$node" && fail "the upgrade ended $node without systemd"
    # What try-restart would do.
    halt "$node"
    boot "$node"
    [ "$(on "$node" stat -c '%i %Y %s' /var/lib/syncd/default/identity/key.pem)" = "$before" ] || fail "the key was moved"
    user "$node" "echo $node >after-$node"
    settle
done
halt alpha
if command -v sqlite3 >/dev/null; then
    state=/var/lib/syncd/default/state.db
    get alpha "$state" >"$world/state"
    version=$(sqlite3 "$world/state" 'pragma user_version')
    sqlite3 "$world/state" "pragma wal_checkpoint(truncate); pragma user_version = $((version + 100))" >"$world/out"
    put alpha "$world/state" "$state"
    sum=$(on alpha sha256sum "$state")
    install_on alpha
    on alpha /usr/sbin/syncd --config /etc/syncd/syncd.conf >"$world/refused" 2>&1
    [ $? -eq 65 ] || fail "a newer state is not refused: $(cat "$world/refused")"
    grep -q 'statedb.newer' "$world/refused" || fail "it does not say why: $(cat "$world/refused")"
    [ "$(on alpha sha256sum "$state")" = "$sum" ] || fail "the newer state was touched"
fi
