# The middle tier: what the light tier has, but each node is a container with systemd as its first process (systemd-nspawn), so that
# the units, their sandbox and the scripts of the package are what they are on a machine. Sourced by run.sh; words as in light.sh.
# shellcheck shell=bash
# shellcheck source=Tests/Rig/light.sh
source ./light.sh
tier=container
declare -A container=() starts=([alpha]=0 [beta]=0)

begin_world() {
    local node
    probe
    command -v systemd-nspawn >/dev/null || skip "there is no systemd-nspawn (Debian: systemd-container)"
    make_world
    for node in alpha beta; do
        : >"$world/$node/root/etc/machine-id"
        echo "$node" >"$world/$node/root/etc/hostname"
        # Of this machine's own services none, and no journal of its own.
        rm -rf "$world/$node/root"/etc/systemd/system/multi-user.target.wants "$world/$node/root"/var/log/journal
        switch_on "$node"
    done
}

# switch_on NODE: systemd, until it has started what it starts.
switch_on() {
    local node=$1 root=$world/$1/root
    starts[$node]=$((${starts[$node]} + 1))
    SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 systemd-nspawn --quiet --directory="$root" --machine="$name-$node-${starts[$node]}" --hostname="$node" \
        --register=no --keep-unit --network-namespace-path="/run/netns/$name-$node" --console=read-only --boot \
        systemd.mask=postgresql.service </dev/null >"$world/$node/console" 2>&1 &
    container[$node]=$!
    soon "$node does not start: $(tail -n 1 "$world/$node/console")" is_on "$node"
}

is_on() {
    local state
    kill -0 "${container[$1]}" 2>/dev/null || skip "no container starts here: $(tail -n 1 "$world/$1/console")"
    first[$1]=$(pgrep -P "${container[$1]}" | head -n 1)
    [ -n "${first[$1]}" ] || return 1
    state=$(on "$1" systemctl is-system-running 2>/dev/null)
    [ "$state" = running ] || [ "$state" = degraded ]
}
declare -A first=()

on() {
    local node=$1
    shift
    nsenter --target "${first[$node]}" --mount --uts --ipc --net --pid -- "$@"
}

boot() {
    on "$1" systemctl start syncd >"$world/started" 2>&1 ||
        fail "$1 does not start: $(cat "$world/started"; on "$1" journalctl -u syncd --no-pager -n 5)"
    answers "$1"
}
is_off() { ! on "$1" systemctl --quiet is-active syncd; }
halt() {
    on "$1" systemctl stop syncd
    ended=$(on "$1" systemctl show --property ExecMainStatus --value syncd)
}
# What is killed systemd would start again, after five seconds.
crash() {
    on "$1" systemctl kill --kill-who=main --signal KILL syncd
    on "$1" systemctl stop syncd
    on "$1" systemctl reset-failed syncd 2>/dev/null
}
enable() { on "$1" systemctl --quiet enable syncd || fail "the service of $1 cannot be enabled"; }
reboot() {
    local node
    for node in "$@"; do on "$node" systemctl poweroff; done
    for node in "$@"; do
        wait "${container[$node]}"
        switch_on "$node"
        soon "the service of $node does not come up by itself" answers "$node"
    done
}
# put NODE FILE PATH: a container has a /tmp and a /run of its own.
put() { on "$1" bash -c 'cat >"$1"' - "$3" <"$2"; }

end_world() {
    local node
    for node in alpha beta; do
        if [ -n "${container[$node]:-}" ]; then kill -TERM "${container[$node]}"; fi
        if [ -n "${first[$node]:-}" ]; then kill -KILL "${first[$node]}"; fi
    done
    wait
    for node in alpha beta; do ip netns delete "$name-$node"; done
    umount -R -l "$world"
    rmdir "$world"
} 2>/dev/null
