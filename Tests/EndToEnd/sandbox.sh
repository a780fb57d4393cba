# The daemons of the stories as services of systemd, in the sandbox of the unit: sourced after world.sh by `SANDBOX=yes run.sh`. Needs a machine
# whose first process is systemd; `Tests/Rig/sandbox.story` makes one. Worlds lie in $WORLDS, because the sandbox has a /tmp of its own.
# shellcheck shell=bash
# Of the unit everything that confines and bounds; who it runs as, what it starts and where it may write is the story's.
sandbox=$(sed -n '/^# The sandbox/,/^\[Install\]/{/^[A-Z][A-Za-z]*=/p}' ../../systemd/syncd.service)
[ "$(grep -c . <<<"$sandbox")" -ge 25 ] || fail "the unit has lost its sandbox: $sandbox"

unit_of() { echo "${world##*/}-$1.service"; }
shown() { systemctl show --property "$2" --value "$(unit_of "$1")"; }

# launch NODE: what it is started through cannot be wrapped around a service, but for a network.
launch() {
    local unit network= name=through_$1[@]
    local through=("${!name-}")
    if [[ "${through[*]}" = "ip netns exec "* ]]; then
        network=NetworkNamespacePath=/run/netns/${through[3]}
    elif [ -n "${through[*]}" ]; then
        skip "in the sandbox nothing is started through ${through[0]}"
    fi
    unit=$(unit_of "$1")
    printf '%s\n' "[Service]" "Type=exec" "RemainAfterExit=yes" "ExecStart=$programs/syncd --config $world/$1/syncd.conf" "StandardError=append:$world/$1/log" \
        "StandardOutput=append:$world/$1/log" "ReadWritePaths=$world" "UMask=0077" "$network" "$sandbox" >"/run/systemd/system/$unit"
    systemctl daemon-reload
    # How it ended is remembered until here.
    systemctl stop "$unit"
    systemctl reset-failed "$unit" 2>/dev/null
    # One that ends at once has been started as well.
    systemctl start "$unit" 2>"$world/started"
    shown "$1" ExecMainPID >"$world/$1/pid"
    [ "$(cat "$world/$1/pid")" -gt 0 ] || fail "$1 is not started: $(cat "$world/started")"
}

down() {
    local node=$1 pid
    pid=$(cat "$world/$node/pid")
    kill "-${2:-TERM}" "$pid" 2>/dev/null
    soon "$node does not end" has_ended "$node"
    ended=$(shown "$node" ExecMainStatus)
    # As a shell counts who was killed.
    if [ "$(shown "$node" ExecMainCode)" -ne 1 ]; then ended=$((ended + 128)); fi
}
has_ended() { [[ $(shown "$1" SubState) =~ ^(exited|failed|dead)$ ]]; }

eval "$(declare -f end_world | sed '1s/end_world/end_plain_world/')"
end_world() {
    local unit
    for unit in /run/systemd/system/"${world##*/}"-*.service; do
        if [ -e "$unit" ]; then
            systemctl kill --signal KILL "${unit##*/}"
            systemctl stop "${unit##*/}"
            systemctl reset-failed "${unit##*/}"
            rm "$unit"
        fi
    done
    end_plain_world
} 2>/dev/null
