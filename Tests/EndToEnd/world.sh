# A pair of real daemons on loopback, for the stories in this folder: sourced by `run`, never executed.
# A world is a scratch directory with alpha/ and beta/: each has its configuration, state, socket and folder.
# shellcheck shell=bash

# How long one step of a story may take before it counts as failed.
patience=${PATIENCE:-60}

# new_world: two nodes that are set up, not started and not paired.
new_world() {
    world=$(mktemp -d /tmp/syncd-e2e-XXXXXX)
    alpha=$world/alpha/folder
    beta=$world/beta/folder
    port=$(free_port)
    mkdir -p "$alpha" "$beta"
    ctl alpha init --name alpha --folder "$alpha" --listen "127.0.0.1:$port" \
        --state "$world/alpha/state" --control "$world/alpha/control" >"$world/alpha/init.out"
    ctl beta init --name beta --folder "$beta" --listen "127.0.0.1:$(free_port)" --peer "127.0.0.1:$port" \
        --state "$world/beta/state" --control "$world/beta/control" >"$world/beta/init.out"
}

# A port nobody listens on now.
free_port() {
    local candidate
    while true; do
        candidate=$((20000 + RANDOM % 20000))
        if ! (exec 3<>"/dev/tcp/127.0.0.1/$candidate") 2>/dev/null; then
            echo "$candidate"
            return
        fi
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
    "$programs/syncd" --config "$world/$node/syncd.conf" 2>>"$world/$node/log" </dev/null &
    echo $! >"$world/$node/pid"
    for ((tries = 0; tries < patience * 20; tries++)); do
        ctl "$node" status >/dev/null 2>&1
        if [ $? -ne 3 ]; then return 0; fi
        if ! kill -0 "$(cat "$world/$node/pid")" 2>/dev/null; then break; fi
        sleep 0.05
    done
    fail "$node does not come up: $(tail -n 3 "$world/$node/log")"
}

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
    token=$(ctl alpha --json invite --no-wait | sed -nE 's/.*"token":"([^"]*)".*/\1/p')
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
    local node
    for node in alpha beta alpha; do
        ctl "$node" wait --for in-sync --timeout "$patience" >"$world/waited" 2>&1 ||
            fail "$node is not in sync: $(cat "$world/waited"; ctl "$node" --json status)"
    done
    same_trees
}

# The whole of a tree as text: kinds, modes, times, targets and contents; never the daemon's own folder.
picture() {
    (
        cd "$1" || exit
        find . -path ./.syncd -prune -o \( -type p -o -type s -o -type b -o -type c \) -prune -o \
            -printf '%y %m %T@ %p %l\0' | tr '\0' '\n' | sed -E 's/^(l) [0-9]+ [0-9.]+/\1/; s/^d ([0-9]+) [0-9.]+ \. $/d \1 ./' | LC_ALL=C sort
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
    find "$alpha" "$beta" -type f -print0 | xargs -0 sha256sum | grep -q "^$digest" || fail "$what is lost"
}

fail() {
    echo "    $*" >&2
    exit 1
}

# Ends what this world started and removes it.
end_world() {
    local file
    for file in "$world"/*/pid; do
        [ -e "$file" ] && kill -9 "$(cat "$file")" 2>/dev/null
    done
    rm -rf "$world"
}
