# The light tier: two network namespaces with one cable, and for each node a root of its own, an overlay over that of this machine. What
# systemd would do is done by hand, from the lines of the installed unit. Sourced by run.sh.
# shellcheck shell=bash

patience=${PATIENCE:-60}
declare -A place=([alpha]=10.214.7.1 [beta]=10.214.7.2) process=() other=([alpha]=beta [beta]=alpha)

# begin_world: two machines that are on and have nothing of syncd.
begin_world() {
    probe
    make_world
    local node
    for node in alpha beta; do
        mount --rbind /proc "$world/$node/root/proc"
        mount --rbind /dev "$world/$node/root/dev"
        mount -t tmpfs run "$world/$node/root/run"
        mount -t tmpfs tmp "$world/$node/root/tmp"
        chmod 1777 "$world/$node/root/tmp"
    done
}

# make_world: the cable, and a root for each node.
make_world() {
    local node
    world=$(mktemp -d /tmp/syncd-rig-XXXXXX)
    name=syncd-rig-$BASHPID
    mount -t tmpfs syncd-rig "$world"
    for node in alpha beta; do
        ip netns add "$name-$node" || broken "no network namespace"
        new_root "$node"
        # A name of its own, too: a token says it, and who joins must not find himself there.
        : >"$world/$node/uts"
        unshare --uts="$world/$node/uts" hostname "$node" || broken "no name for $node"
    done
    ip link add cable netns "$name-alpha" type veth peer name cable netns "$name-beta" || broken "no cable"
    for node in alpha beta; do
        ip -n "$name-$node" address add "${place[$node]}/24" dev cable
        ip -n "$name-$node" link set lo up
        ip -n "$name-$node" link set cable up
    done
}

# What this tier needs is tried, not looked up. Without the right to it there is nothing to be tested here.
probe() {
    local trial
    [ "$(id -u)" -eq 0 ] || skip "only root may make machines"
    command -v ip >/dev/null && command -v setpriv >/dev/null || skip "iproute2 or util-linux is missing"
    trial=$(mktemp -d /tmp/syncd-rig-XXXXXX)
    if ! mount -t tmpfs probe "$trial" 2>"/dev/null"; then
        rmdir "$trial"
        skip "mounting is forbidden here"
    fi
    mkdir "$trial"/{upper,work,root}
    if ! mount -t overlay -o "lowerdir=/,upperdir=$trial/upper,workdir=$trial/work" probe "$trial/root" 2>"$trial/why"; then
        skip "no overlay of the root: $(head -n 1 "$trial/why")"
    fi
    umount "$trial/root" "$trial"
    rmdir "$trial"
    ip netns add syncd-rig-probe 2>/dev/null || skip "no network namespaces here"
    ip netns delete syncd-rig-probe
}

new_root() {
    local node=$1
    mkdir -p "$world/$node"/{upper,work,root}
    mount -t overlay -o "lowerdir=/,upperdir=$world/$node/upper,workdir=$world/$node/work" "$node" "$world/$node/root"
    mount -t tmpfs srv "$world/$node/root/srv"
    # An index of all manual pages of this machine, made anew at each installation, would be most of the time of a story.
    rm -f "$world/$node/root/var/lib/man-db/auto-update"
}

# on NODE COMMAND...: runs there, as root.
on() {
    local node=$1
    shift
    nsenter --net="/run/netns/$name-$node" --uts="$world/$node/uts" chroot "$world/$node/root" "$@"
}

# put NODE FILE PATH: from here to there. get NODE PATH: from there to the output.
put() { cp "$2" "$world/$1/root$3"; }
get() { on "$1" cat "$2"; }

install_on() {
    put "$1" "${2:-$package}" /tmp/syncd.deb
    on "$1" dpkg --install /tmp/syncd.deb >"$world/installed" 2>&1 || fail "installing on $1: $(tail -n 3 "$world/installed")"
}

# unit NODE KEY: what its installed unit says.
unit() { sed -n "s/^$2=//p" "$world/$1/root/lib/systemd/system/syncd.service" | head -n 1; }

# boot NODE: as systemd would start the service: its user, no privileges, and it has to say that it is ready.
boot() {
    local node=$1 words
    read -ra words <<<"$(unit "$node" ExecStart)"
    on "$node" install -d -o syncd -g syncd -m 755 /run/syncd
    rm -f "$world/$node/notify"
    nsenter --net="/run/netns/$name-$node" --uts="$world/$node/uts" chroot "$world/$node/root" \
        setpriv --reuid "$(unit "$node" User)" --regid "$(unit "$node" Group)" --clear-groups --no-new-privs --bounding-set=-all \
        "${words[@]}" >>"$world/$node/journal" 2>&1 </dev/null &
    process[$node]=$!
    soon "$node does not come up, see above" answers "$node"
}

answers() {
    is_off "$1" && fail "$1 ended: $(tail -n 3 "$world/$1/journal")"
    says "$1" '"schema":1'
}
is_off() { ! kill -0 "${process[$1]}" 2>/dev/null; }

# halt NODE and crash NODE: it is told to stop, or gets no time to. The exit status is left in $ended.
halt() { end_process "$1" TERM; }
crash() { end_process "$1" KILL; }
end_process() {
    ended=0
    kill "-$2" "${process[$1]}" 2>/dev/null
    wait "${process[$1]}" 2>/dev/null || ended=$?
}

# enable NODE: its service comes up with the machine. reboot NODE...: orderly, all of them at once; what is enabled is up afterwards.
enable() { :; }
reboot() {
    local node
    for node in "$@"; do
        halt "$node"
        find "$world/$node/root/run" "$world/$node/root/tmp" -mindepth 1 -delete
    done
    for node in "$@"; do boot "$node"; done
}

# fill NODE BYTES: only so many are left for its user in the file system of its folder. drain NODE: there is room again.
fill() {
    local used
    used=$(df -B 1 --output=used "$world/$1/root/srv" | tail -n 1)
    mount -o "remount,size=$((used + $2))" "$world/$1/root/srv" || broken "nothing is filled"
}
drain() { mount -o remount,size=1g "$world/$1/root/srv" || broken "there is no room again"; }

# What a tier cannot do is not done in another way.
powercut() { skip "the tier $tier cuts no power"; }
set_clock() { skip "in the tier $tier all have one clock"; }

# cut: nothing goes either way, and nobody is told. cut_from NODE: what NODE sends is lost, what it is sent arrives.
cut() {
    cut_from alpha
    cut_from beta
    ! reaches alpha && ! reaches beta || broken "the cut lets a plain connection through"
}
cut_from() {
    local hardware
    hardware=$(ip -n "$name-${other[$1]}" -br link show cable | awk '{ print $3 }')
    ip -n "$name-$1" neighbour replace "${place[${other[$1]}]}" lladdr 02:00:5e:00:53:01 dev cable nud permanent
    [ "$hardware" != 02:00:5e:00:53:01 ] || broken "the wrong address is the right one"
}
heal() {
    local node
    for node in alpha beta; do ip -n "$name-$node" neighbour flush dev cable nud permanent; done
    soon "the cable does not heal" reaches beta
}
# reaches NODE: a plain connection from it to where the other listens.
reaches() {
    on "$1" timeout 2 bash -c "exec 3<>/dev/tcp/${place[${other[$1]}]}/7420" 2>/dev/null
}

# A pair as the manual makes it; each then says that it agrees.
pair() {
    local node token
    on alpha syncctl init --name alpha --folder /srv/shared >"$world/alpha/init" || fail "init: $(cat "$world/alpha/init")"
    on beta syncctl init --name beta --folder /srv/shared --peer "${place[alpha]}:7420" >"$world/beta/init" ||
        fail "init: $(cat "$world/beta/init")"
    boot alpha
    boot beta
    reaches beta || broken "no plain connection before any cut"
    token=$(on alpha syncctl --json invite --no-wait | sed -nE 's/.*"token":"([^"]*)".*/\1/p')
    on beta syncctl join "$token" >"$world/joined" 2>&1 || fail "join: $(cat "$world/joined")"
    settle
}

# settle: both nodes say that they agree, and the hashes of everything say so too.
settle() {
    local node
    for node in alpha beta alpha; do
        on "$node" syncctl wait --timeout "$patience" >"$world/waited" 2>&1 || fail "$node: $(cat "$world/waited")"
    done
    for node in alpha beta; do hashes "$node" >"$world/$node/hashes"; done
    diff "$world/alpha/hashes" "$world/beta/hashes" >"$world/difference" || fail "the folders differ: $(head -n 5 "$world/difference")"
}

# hashes NODE: of all that is in its folder.
hashes() {
    (cd "$world/$1/root/srv/shared" && find . -path ./.syncd -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum)
}

# user NODE COMMAND: a line of shell in the shared folder, as the user that has it.
user() {
    on "$1" setpriv --reuid syncd --regid syncd --clear-groups bash --norc -c "cd /srv/shared && $2" || fail "on $1: $2"
}

# soon WHAT COMMAND...
soon() {
    local what=$1 tries
    shift
    for ((tries = 0; tries < patience * 20; tries++)); do
        if "$@"; then return 0; fi
        sleep 0.05
    done
    tail -n 3 "$world"/*/journal >&2
    fail "$what"
}

# says NODE TEXT: it stands in its status, whatever the exit status is.
says() {
    on "$1" syncctl --json status >"$world/says" 2>/dev/null
    grep -qF "$2" "$world/says"
}
linked() { says "$1" '"connected":true'; }
unlinked() { says "$1" '"connected":false'; }

fail() { echo "    $*" >&2; exit 1; }
skip() { echo "    $*" >&2; exit 77; }
broken() { echo "    the rig: $*" >&2; exit 3; }

end_world() {
    local node
    for node in alpha beta; do
        ip netns pids "$name-$node" | xargs -r kill -9
        ip netns delete "$name-$node"
    done
    wait
    umount -R -l "$world"
    rmdir "$world"
} 2>/dev/null
