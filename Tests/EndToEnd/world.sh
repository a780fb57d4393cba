# A pair of real daemons on loopback, for the stories in this folder: sourced by `run`, never executed.
# A world is a scratch directory with alpha/ and beta/: each has its configuration, state, socket and folder.
# shellcheck shell=bash
# shellcheck source=.ci/nodes
source ../../.ci/nodes

# How long one step of a story may take before it counts as failed.
patience=${PATIENCE:-60}
# Where alpha can be reached, and what a daemon is started through.
address=127.0.0.1
through_alpha=()
through_beta=()

# new_world: two nodes that are set up, not started and not paired.
new_world() {
    new_places
    set_up
}

# new_places: only where the nodes will be; a story may put a file system there before it calls set_up.
new_places() {
    world=$(mktemp -d "${WORLDS:-/tmp}/syncd-e2e-XXXXXX")
    alpha=$world/alpha/folder
    beta=$world/beta/folder
    mkdir -p "$alpha" "$beta"
}

set_up() {
    port=$(free_port 0)
    ctl alpha init --name alpha --folder "$alpha" --listen "$address:$port" \
        --state "$world/alpha/state" --control "$world/alpha/control" >"$world/alpha/init.out"
    ctl beta init --name beta --folder "$beta" --listen "127.0.0.1:$(free_port 8)" --peer "$address:$port" \
        --state "$world/beta/state" --control "$world/beta/control" >"$world/beta/init.out"
}

# give_model NAME: both nodes get the model that stands on the standard input; before they are started.
give_model() {
    local node
    mkdir -p "$world/models.d"
    cat >"$world/models.d/$1.json"
    for node in alpha beta; do
        sed -i "s|^;* *models = .*|models = $world/models.d|" "$world/$node/syncd.conf"
        grep -q "^models = $world" "$world/$node/syncd.conf" || fail "$node takes no models"
    done
}

# ctl NODE ARGUMENTS...: syncctl for one node.
ctl() {
    local node=$1
    shift
    "$programs/syncctl" --config "$world/$node/syncd.conf" "$@"
}

# up NODE: starts its daemon and waits until it answers.
up() {
    local node=$1 tries
    launch "$node"
    for ((tries = 0; tries < patience * 20; tries++)); do
        if tells "$node" '"schema":1' status; then return 0; fi
        if is_down "$node"; then break; fi
        sleep 0.05
    done
    fail "$node does not come up: $(tail -n 3 "$world/$node/log")"
}

# launch NODE: only starts its daemon.
launch() {
    local -n through=through_$1
    "${through[@]}" "$programs/syncd" --config "$world/$1/syncd.conf" 2>>"$world/$1/log" </dev/null &
    echo $! >"$world/$1/pid"
}

is_down() { ! kill -0 "$(cat "$world/$1/pid")" 2>/dev/null; }

# down NODE [SIGNAL]: ends its daemon; the exit status is left in $ended.
down() {
    local node=$1 signal=${2:-TERM} pid
    pid=$(cat "$world/$node/pid")
    kill "-$signal" "$pid" 2>/dev/null
    ended=0
    wait "$pid" 2>/dev/null || ended=$?
}

# pair: alpha invites, beta joins, both show the same words.
pair() {
    local token
    token=$(new_token ctl alpha)
    [ -n "$token" ] || fail "no token"
    ctl beta --json join "$token" >"$world/joined" || fail "joining failed: $(cat "$world/joined")"
}

# A world of two daemons that are up, paired and in sync.
paired_world() {
    new_world
    up alpha
    up beta
    pair
    settle
}

# settle: both nodes say that they are in sync, and it is true.
settle() {
    agree
    same_trees
}

# agree: both nodes say that they are in sync.
agree() {
    local node
    for node in alpha beta alpha; do
        ctl "$node" wait --for in-sync --timeout "$patience" >"$world/waited" 2>&1 ||
            fail "$node is not in sync: $(cat "$world/waited"; plight)"
    done
}

# begin_log NODE: what its own log says by now.
begin_log() { ctl "$1" --json log --node "$1" >"$world/$1/log-before"; }

# logs NODE PATH...: since begin_log its own log tells of each of them. What is not logged yet is dated later.
logs() {
    local node=$1 path
    shift
    ctl "$node" --json log --node "$node" >"$world/$node/log-after" 2>&1
    for path in "$@"; do
        [ "$(grep -cF "\"path\":\"$path\"" "$world/$node/log-after")" -gt \
            "$(grep -cF "\"path\":\"$path\"" "$world/$node/log-before")" ] || return 1
    done
}

# The whole of a tree as text: kinds, modes, times, targets and contents; never the daemon's own folder.
picture() {
    (
        cd "$1" || exit
        find . -path ./.syncd -prune -o \( -type p -o -type s -o -type b -o -type c \) -prune -o \
            -printf '%y %m %T@ %p %l\0' | tr '\0' '\n' |
            sed -E 's/^(l) [0-9]+ [0-9.]+/\1/; s/^d ([0-9]+) [0-9.]+ \. $/d \1 ./' | LC_ALL=C sort
        find . -path ./.syncd -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum
    )
}

same_trees() {
    picture "$alpha" >"$world/alpha/picture"
    picture "$beta" >"$world/beta/picture"
    diff "$world/alpha/picture" "$world/beta/picture" >"$world/difference" ||
        fail "the folders differ: $(head -n 10 "$world/difference")"
}

# everything_kept FILE...: each content (one file each) is somewhere in the folder or among the versions of a node.
kept_somewhere() {
    local digest=$1 what=$2
    find "$alpha" "$beta" -type f -print0 | xargs -0 sha256sum >"$world/digests"
    grep -q "^$digest" "$world/digests" || fail "$what is lost"
}

fail() {
    echo "    $*" >&2
    exit 1
}

# skip REASON: this machine cannot play the story.
skip() {
    echo "    $*" >&2
    exit 77
}

# needs PROGRAM...
needs() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null || skip "there is no $program on this machine"
    done
}

needs_root() {
    [ "$(id -u)" -eq 0 ] || skip "only root may do this"
}

# soon WHAT COMMAND...: waits until the command succeeds; WHAT is said if it never does.
soon() {
    local what=$1 tries
    shift
    for ((tries = 0; tries < patience * 20; tries++)); do
        if "$@"; then return 0; fi
        sleep 0.05
    done
    fail "$what$(plight)"
}

# How the nodes are, for the words of a failure.
plight() {
    local node
    for node in alpha beta; do
        printf '\n    %s: %s\n    %s' "$node" "$(ctl "$node" --json status 2>&1)" "$(ctl "$node" --json alerts 2>&1)"
        printf '\n%s' "$(tail -n 3 "$world/$node/log")"
    done | cut -c 1-2000
}

# finds ARGUMENT...: grep at the end of a pipe. It reads all of it, as `grep -q` does not: who writes on would fail, and the pipe with him.
finds() { grep "$@" >"$world/found"; }

# tells NODE TEXT COMMAND...: the answer to the command has the text, whatever its exit status.
tells() {
    local node=$1 text=$2
    shift 2
    ctl "$node" --json "$@" >"$world/told" 2>&1
    grep -qF -e "$text" "$world/told"
}

# waits_for NODE CODE: a path of the node waits for this reason.
waits_for() { tells "$1" "\"reason\":\"$2\"" status; }

# holds_deletes NODE: a mass deletion waits for a person.
holds_deletes() { tells "$1" '"held":1' status; }

# warns_of NODE CODE: the node has this alert open.
warns_of() { tells "$1" "\"code\":\"$2\"" alerts; }

warns_no_more_of() { ! warns_of "$@"; }

no_conflicts() {
    local node
    for node in alpha beta; do
        [ "$(ctl "$node" --json conflicts)" = '{"conflicts":[]}' ] ||
            fail "$node lists a conflict: $(ctl "$node" --json conflicts)"
    done
}

# content NODE, and not_content NODE: what its status says to scripts.
content() { ctl "$1" status >"$world/status" 2>&1; }
not_content() { ! content "$@"; }

# mount_tmpfs PLACE SIZE [OPTIONS]: a small file system of its own.
mount_tmpfs() {
    needs_root
    mkdir -p "$1"
    mount -t tmpfs -o "size=$2${3:+,$3}" syncd-e2e "$1" 2>"$world/mounting" ||
        skip "mounting is forbidden: $(cat "$world/mounting")"
}

# fill DIRECTORY: leaves no room in its file system, until the file `filler` goes.
fill() {
    local times
    # What a daemon has staged and gives up meanwhile is room again.
    for ((times = 0; times < 20; times++)); do
        head -c 1G /dev/zero >>"$1/filler" 2>/dev/null
        if [ "$(df --output=avail "$1" | tail -n 1)" -lt 128 ]; then return; fi
    done
    fail "there is still room: $(df "$1")"
}

# own_network: beta gets a network of its own, with one cable to alpha: the device $device here, cable there.
own_network() {
    needs_root
    needs ip
    local net=10.213.$((BASHPID % 250))
    namespace=syncd-e2e-$BASHPID
    device=cable-$BASHPID
    ip netns add "$namespace" 2>"$world/network" || skip "no network of its own: $(cat "$world/network")"
    ip link add "$device" type veth peer name cable netns "$namespace" 2>"$world/network" ||
        skip "no cable: $(cat "$world/network")"
    ip address add "$net.1/30" dev "$device"
    ip link set "$device" up
    ip -n "$namespace" address add "$net.2/30" dev cable
    ip -n "$namespace" link set cable up
    ip -n "$namespace" link set lo up
    address=$net.1
    # shellcheck disable=SC2034
    through_beta=(ip netns exec "$namespace")
}

# linked NODE, and unlinked NODE: what its status says of the other.
linked() { tells "$1" '"connected":true' status; }
unlinked() { tells "$1" '"connected":false' status; }

# milliseconds: the time now, to measure by.
milliseconds() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

# Ends what this world started and removes it.
end_world() {
    local file
    if [ -n "${namespace:-}" ]; then ip netns delete "$namespace"; fi
    for file in "$world"/*/pid; do
        if [ -e "$file" ]; then kill -9 "$(cat "$file")"; fi
    done
    wait
    sed -nE "s|^([^ ]+ ){4}($world/[^ ]*) .*|\2|p" /proc/self/mountinfo | tac | xargs -r -n 1 umount -l
    rm -rf "$world"
} 2>/dev/null
