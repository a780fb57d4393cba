# The heavy tier: each node is a virtual machine (qemu) with a kernel, a disk and a clock of its own, a minimal Debian 12 that has never
# seen a compiler. What a container cannot do is done here: the power is cut. Always emulated: /dev/kvm may be there and be of no use.
# Sourced by run.sh; words as in light.sh, those about systemd as in container.sh.
# shellcheck shell=bash
# shellcheck source=Tests/Rig/container.sh
source ./container.sh
tier=vm
# Emulation is some twenty times slower.
patience=${PATIENCE:-900}
images=${RIG_IMAGES:-$(realpath -m ../../.build/rig)}
declare -A machine=() number=([alpha]=1 [beta]=2)

begin_world() {
    local node tool
    [ "$(id -u)" -eq 0 ] || skip "only root may make machines"
    for tool in qemu-system-x86_64 mmdebstrap mke2fs cpio busybox depmod ssh ssh-keygen ip; do
        command -v "$tool" >/dev/null || skip "there is no $tool: .ci/packages machines installs it"
    done
    ./image.sh "$images" >"$images.log" 2>&1 || broken "no image: $(tail -n 2 "$images.log")"
    world=$(mktemp -d /tmp/syncd-rig-XXXXXX)
    name=syncd-rig-$BASHPID
    mount -t tmpfs syncd-rig "$world"
    # Where the machines run: their doors are nobody else's.
    ip netns add "$name" || broken "no network namespace"
    ip -n "$name" link set lo up
    for node in alpha beta; do
        mkdir "$world/$node"
        cp --sparse=always "$images/disk" "$world/$node/disk"
        start_machine "$node"
    done
    for node in alpha beta; do await "$node"; done
}

# start_machine NODE [OPTION]: as if its switch was pressed; the option goes to the kernel.
start_machine() {
    local node=$1 here=${number[$1]} there=${number[${other[$1]}]}
    rm -f "$world/wire-$here" "$world/$node/door"
    # A timer that is looked for while the machine is busy is not found, and the kernel gives up: it is told to believe.
    ip netns exec "$name" qemu-system-x86_64 -machine q35 -accel tcg,thread=multi -cpu qemu64 -m 512 -smp 1 -nodefaults -display none \
        -no-reboot -kernel "$images/kernel" -initrd "$images/initrd" \
        -append "console=ttyS0 root=/dev/vda rw net.ifnames=0 panic=-1 mitigations=off no_timer_check quiet systemd.hostname=$node ${2:-}" \
        -chardev "file,id=console,path=$world/$node/console" -serial chardev:console -device virtio-rng-pci \
        -drive "if=none,id=disk,file=$world/$node/disk,format=raw,cache=writeback" -device virtio-blk-pci,drive=disk \
        -netdev "dgram,id=wire,local.type=unix,local.path=$world/wire-$here,remote.type=unix,remote.path=$world/wire-$there" \
        -device "virtio-net-pci,netdev=wire,mac=52:54:00:77:00:0$here" \
        -netdev "user,id=door,restrict=on,hostfwd=tcp:127.0.0.1:220$here-:22" \
        -device "virtio-net-pci,netdev=door,mac=52:54:00:88:00:0$here" </dev/null >"$world/$node/qemu" 2>&1 &
    machine[$node]=$!
}

await() {
    soon "$1 does not come up: $(tail -n 2 "$world/$1/console")" is_up "$1"
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

# powercut NODE: what its kernel had not sent to the disk is gone. power NODE: it is on again.
powercut() {
    kill -KILL "${machine[$1]}"
    wait "${machine[$1]}" 2>/dev/null
    return 0
}
power() {
    start_machine "$1"
    await "$1"
}

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
    wait
    ip netns delete "$name"
    umount -R -l "$world"
    rmdir "$world"
} 2>/dev/null
