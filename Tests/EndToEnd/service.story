# the units are right, closed to the world, and the one for many pairs differs from the one for one in its names only
needs systemd-analyze
units=$(realpath ../../systemd)
world=$(mktemp -d /tmp/syncd-e2e-XXXXXX)
# The programs of this build, where the package would put them elsewhere.
for unit in syncd.service syncd@.service; do
    sed "s|/usr/sbin/syncd |$programs/syncd |; s|/usr/bin/syncctl |$programs/syncctl |" "$units/$unit" >"$world/$unit"
    grep -q "^ExecStart=$programs/syncd " "$world/$unit" || fail "$unit starts something else"
    # What it says of the units of this machine is not of ours.
    systemd-analyze --man=no verify "$world/$unit" 2>&1 | grep -F "$unit" >"$world/complaints"
    [ ! -s "$world/complaints" ] || fail "$unit: $(head -n 3 "$world/complaints")"
    systemd-analyze security --offline=yes --threshold=15 "$units/$unit" >"$world/exposure" 2>&1 ||
        fail "$unit: $(tail -n 1 "$world/exposure")"
    grep -q 'Overall exposure level' "$world/exposure" || skip "this systemd-analyze rates no unit: $(head -n 1 "$world/exposure")"
done
# systemd answers openat2 with ENOSYS under it, because it cannot look into the call.
grep -l '^RestrictSUIDSGID=yes' "$units"/*.service && fail "RestrictSUIDSGID= forbids openat2"
plain() { sed -e '/^#/d' -e 's|/etc/syncd/%i|/etc/syncd/syncd|; s| (%i)$||' "$1"; }
diff <(plain "$units/syncd.service") <(plain "$units/syncd@.service") >"$world/difference" ||
    fail "the units differ: $(head -n 5 "$world/difference")"
# Both checks bite: a typo is told, and a unit that runs as root is too open.
sed 's|^ProtectSystem=.*|ProtectSytem=strict|' "$world/syncd.service" >"$world/wrong.service"
systemd-analyze --man=no verify "$world/wrong.service" 2>&1 | grep -qF 'wrong.service' || fail "verify says nothing of a typo"
sed '/^User=/d; /^CapabilityBoundingSet=/d' "$world/syncd.service" >"$world/open.service"
systemd-analyze security --offline=yes --threshold=15 "$world/open.service" >"$world/exposure" 2>&1 &&
    fail "a unit with a hole passes"
# Users and directories.
if command -v systemd-sysusers >/dev/null; then
    mkdir -p "$world/root/etc"
    systemd-sysusers --root="$world/root" "$units/syncd.sysusers" >"$world/out" 2>&1 || fail "$(cat "$world/out")"
    grep -q '^syncd:' "$world/root/etc/passwd" || fail "there is no user: $(cat "$world/out")"
    grep -q '^syncd-admin:' "$world/root/etc/group" || fail "there is no group of administrators: $(cat "$world/out")"
    # shellcheck disable=SC2016
    grep '^d ' "$units/syncd.tmpfiles" >"$world/directories"
    [ "$(wc -l <"$world/directories")" -eq 2 ] || fail "not two directories: $(cat "$world/directories")"
fi
