# The heavy tier: each node is a virtual machine (qemu) with a kernel, a disk and a clock of its own, a minimal Debian 12 that has never
# seen a compiler. What a container cannot do is done here: the power is cut, and clocks are set. The disk is a program of ours (rigdisk): what
# was not flushed when the power goes is lost, all of it or (RIG_LOSS=some, the default) any part. Always emulated: /dev/kvm may be there and be
# of no use. Worlds begin with what two machines were when they had come up once; RIG_START=cold boots them instead.
# Sourced by run.sh; words as in light.sh, those about systemd as in container.sh.
# shellcheck shell=bash
# shellcheck source=Tests/Rig/container.sh
source ./container.sh
tier=vm
# Emulation is some twenty times slower.
patience=${PATIENCE:-900}
images=${RIG_IMAGES:-$(realpath -m ../../.build/rig)}
disk_program=${RIG_DISK:-$(realpath -m ../../.build/debug/rigdisk)}
seed=${RIG_SEED:-$((RANDOM * 32768 + RANDOM))}
declare -A machine=() number=([alpha]=1 [beta]=2) disk=()

begin_world() {
    local node tool
    [ "$(id -u)" -eq 0 ] || skip "only root may make machines"
    for tool in qemu-system-x86_64 mmdebstrap mke2fs cpio busybox depmod ssh ssh-keygen ip; do
        command -v "$tool" >/dev/null || skip "there is no $tool: .ci/packages machines installs it"
    done
    [ -x "$disk_program" ] || skip "there is no $disk_program: swift build --product rigdisk makes it"
    world=$(mktemp -d /tmp/syncd-rig-XXXXXX)
    name=syncd-rig-$BASHPID
    mount -t tmpfs syncd-rig "$world"
    mkdir "$world"/{alpha,beta}
    # Where the machines run: their doors are nobody else's.
    ip netns add "$name" || broken "no network namespace"
    ip -n "$name" link set lo up
    # Of two runs at once one makes what both start from.
    mkdir -p "$(dirname "$images")"
    exec {turn}>"$images.turn"
    flock "$turn"
    ./image.sh "$images" >"$images.log" 2>&1 || broken "no image: $(tail -n 2 "$images.log")"
    if [ "${RIG_START:-}" != cold ] && [ "$(cat "$images/started" 2>/dev/null)" != "$(start_recipe)" ]; then make_start; fi
    exec {turn}>&-
    if [ "${RIG_START:-}" = cold ]; then
        for node in alpha beta; do
            cp --sparse=always "$images/disk" "$world/$node/disk"
            start_machine "$node"
        done
    else
        for node in alpha beta; do
            cp --sparse=always "$images/$node.disk" "$world/$node/disk"
            start_machine "$node" "" -incoming "exec:cat $images/$node.memory"
        done
    fi
    for node in alpha beta; do
        await "$node"
        # It slept.
        on "$node" date --set "@$EPOCHREALTIME" >"$world/out" || broken "$node has no clock"
    done
}

# What a start from memory is made of: with other machines it is another.
start_recipe() {
    { cat "$images/recipe" && declare -f start_machine make_start && qemu-system-x86_64 --version; } | sha256sum
}

# make_start: both come up, are put to sleep, and what they were is kept beside the images.
make_start() {
    local node asleep
    rm -f "$images/started"
    for node in alpha beta; do
        cp --sparse=always "$images/disk" "$world/$node/disk"
        mkfifo "$world/$node/monitor"
        exec {asleep}<>"$world/$node/monitor"
        start_machine "$node" "" -monitor stdio <"$world/$node/monitor"
    done
    for node in alpha beta; do await "$node"; done
    for node in alpha beta; do
        on "$node" sync
        rm -f "$world/$node/door"
        printf 'migrate "exec:cat >%s"\nquit\n' "$images/$node.memory" >"$world/$node/monitor"
        wait "${machine[$node]}" || broken "$node does not fall asleep: $(tail -n 1 "$world/$node/qemu")"
        wait "${disk[$node]}" || broken "the disk of $node: $(cat "$world/$node/disk-says")"
        unset "machine[$node]" "disk[$node]"
        cp --sparse=always "$world/$node/disk" "$images/$node.disk"
    done
    start_recipe >"$images/started"
}

# start_machine NODE [OPTION [WORD...]]: as if its switch was pressed; the option goes to the kernel, the words to qemu.
start_machine() {
    local node=$1 here=${number[$1]} there=${number[${other[$1]}]}
    starts[$node]=$((${starts[$node]} + 1))
    "$disk_program" "$world/$node/nbd" "$world/$node/disk" "$((seed + 2 * ${starts[$node]} + here))" "${RIG_LOSS:-some}" \
        </dev/null >"$world/$node/disk-says" 2>&1 &
    disk[$node]=$!
    rm -f "$world/wire-$here" "$world/$node/door"
    # A timer that is looked for while the machine is busy is not found, and the kernel gives up: it is told to believe.
    ip netns exec "$name" qemu-system-x86_64 -machine q35 -accel tcg,thread=multi -cpu qemu64 -m 512 -smp 1 -nodefaults -display none \
        -no-reboot -kernel "$images/kernel" -initrd "$images/initrd" \
        -append "console=ttyS0 root=/dev/vda rw net.ifnames=0 panic=-1 mitigations=off no_timer_check quiet systemd.hostname=$node ${2:-}" \
        -chardev "file,id=console,path=$world/$node/console" -serial chardev:console -device virtio-rng-pci \
        -blockdev "driver=nbd,node-name=disk,server.type=unix,server.path=$world/$node/nbd,open-timeout=30" \
        -device virtio-blk-pci,drive=disk \
        -netdev "dgram,id=wire,local.type=unix,local.path=$world/wire-$here,remote.type=unix,remote.path=$world/wire-$there" \
        -device "virtio-net-pci,netdev=wire,mac=52:54:00:77:00:0$here" \
        -netdev "user,id=door,restrict=on,hostfwd=tcp:127.0.0.1:220$here-:22" \
        -device "virtio-net-pci,netdev=door,mac=52:54:00:88:00:0$here" "${@:3}" <&0 >"$world/$node/qemu" 2>&1 &
    machine[$node]=$!
}

await() {
    soon "$1 does not come up" is_up "$1"
}
is_up() {
    local state
    kill -0 "${machine[$1]}" 2>/dev/null || broken "$1 ended: $(tail -n 2 "$world/$1/qemu" "$world/$1/console")"
    state=$(on "$1" systemctl is-system-running 2>/dev/null)
    [ "$state" = running ] || [ "$state" = degraded ]
}

# Over one connection, as long as the machine is on.
on() {
    local node=$1
    shift
    ip netns exec "$name" ssh -q -i "$images/key" -p "220${number[$node]}" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
        -o ConnectTimeout=10 -o ControlPath="$world/$node/door" -o ControlMaster=auto -o ControlPersist=yes root@127.0.0.1 \
        "$(printf '%q ' "$@")"
}

# powercut NODE: what its kernel had not sent to the disk is gone, and what the disk had not flushed may be. power NODE: it is on again.
powercut() {
    kill -KILL "${machine[$1]}"
    wait "${machine[$1]}" 2>/dev/null
    wait "${disk[$1]}" && grep -q '^cut: ' "$world/$1/disk-says" || broken "the disk of $1: $(cat "$world/$1/disk-says")"
    unset "machine[$1]" "disk[$1]"
    cat "$world/$1/disk-says" >>"$world/$1/tolls"
}
power() {
    start_machine "$@"
    await "$1"
}
# lost_to_cuts NODE: how many writes its disk has lost so far.
lost_to_cuts() { sed -nE 's/.* ([0-9]+) lost.*/\1/p' "$world/$1/tolls" 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'; }

reboot() {
    local node
    # Its image has no logind to ask.
    for node in "$@"; do on "$node" systemctl start --no-block reboot.target; done
    for node in "$@"; do
        wait "${machine[$node]}" || broken "$node ended badly: $(tail -n 2 "$world/$node/qemu")"
        wait "${disk[$node]}" && grep -q '^off: ' "$world/$node/disk-says" || broken "the disk of $node: $(cat "$world/$node/disk-says")"
        start_machine "$node"
    done
    for node in "$@"; do
        await "$node"
        soon "the service of $node does not come up by itself" answers "$node"
    done
}

# set_clock NODE CHANGE: such as '+1 day'; of what it shows now.
set_clock() { on "$1" date --set "$(on "$1" date --iso-8601=ns) $2" >"$world/out" 2>&1 || broken "no clock is set: $(cat "$world/out")"; }
# right_clock NODE: it shows what this machine shows.
right_clock() { on "$1" date --set "@$EPOCHREALTIME" >"$world/out" || broken "no clock is set"; }

# Of the whole disk, which holds the state as well. Without a byte for the user there is none for root.
fill() {
    on "$1" bash -c 'fallocate -l $(($(df -B 1 --output=avail / | tail -n 1) - $1)) /var/tmp/filler && sync /var/tmp/filler' - "$2" \
        >"$world/out" 2>&1 || broken "nothing is filled: $(cat "$world/out")"
    if [ "$2" -eq 0 ]; then on "$1" dd if=/dev/zero of=/var/tmp/rest bs=4k >"$world/out" 2>&1; fi
}
drain() { on "$1" bash -c 'rm -f /var/tmp/filler /var/tmp/rest && sync -f /var/tmp' || broken "there is no room again"; }

cut_from() {
    local there=${place[${other[$1]}]}
    on "$1" ip neighbour replace "$there" lladdr 02:00:5e:00:53:01 dev eth0 nud permanent || broken "nothing can be cut"
}
heal() {
    local node
    for node in alpha beta; do on "$node" ip neighbour flush dev eth0 nud permanent; done
    soon "the wire does not heal" reaches beta
}
reaches() {
    on "$1" timeout 20 bash -c "exec 3<>/dev/tcp/${place[${other[$1]}]}/7420" 2>/dev/null
}

# hashes NODE: of all that is in its folder.
hashes() {
    on "$1" bash -c 'cd /srv/shared && find . -path ./.syncd -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum'
}

end_world() {
    local node
    for node in alpha beta; do if [ -n "${machine[$node]:-}" ]; then kill -KILL "${machine[$node]}"; fi; done
    ip netns pids "$name" | xargs -r kill -9
    for node in alpha beta; do if [ -n "${disk[$node]:-}" ]; then kill -KILL "${disk[$node]}"; fi; done
    wait
    ip netns delete "$name"
    umount -R -l "$world"
    rmdir "$world"
} 2>/dev/null
