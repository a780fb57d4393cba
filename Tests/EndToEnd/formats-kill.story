# whatever is killed or cut while programs of two versions save the same files, the newer content is at the path in the end
# In ROUNDS rounds: a few, unless the environment says more.
ROUNDS=${ROUNDS:-6}
new_places
if [ "$(id -u)" -eq 0 ]; then own_network; fi
set_up
supports() {
    mkdir -p "$world/models-$1"
    cat >"$world/models-$1/project.json" <<END
{ "model": "org.example.app", "formats": [
  { "name": "project", "files": "*.proj.json", "version": {"json": "/version"}, "supports": [1, $2] },
  { "name": "catalog", "files": "*.db", "version": {"sqlite": "user_version"}, "supports": [1, $2] },
  { "name": "container", "files": "*.box", "version": {"bytes": {"offset": 8, "length": 4, "endian": "big"}}, "supports": [1, $2] },
  { "name": "notes", "files": "*.note", "version": {"regex": "^%NOTE-([0-9]+)"}, "supports": [1, $2] } ] }
END
    sed -i "s|^;* *models = .*|models = $world/models-$1|" "$world/$1/syncd.conf"
}
supports alpha 2
supports beta 1
files="plan.proj.json list.db case.box memo.note"

# saved FILE VERSION TEXT: what a program of that version saves in it.
saved() {
    case $1 in
        *.json) printf '{"version": %s, "text": "%s"}\n' "$2" "$3" ;;
        *.db)
            printf 'SQLite format 3\0'
            head -c 44 /dev/zero
            printf '\0\0\0%b' "\\x0$2"
            head -c 36 /dev/zero
            printf '%s.' "$3"
            ;;
        *.box) printf 'CONTAIN:\0\0\0%b%s.' "\\x0$2" "$3" ;;
        *.note) printf '%%NOTE-%s\n%s.\n' "$2" "$3" ;;
    esac
}

# save NODE FILE VERSION TEXT: in place, by renaming, or by deleting and making anew.
save() {
    local node=$1 file=$world/$1/folder/$2
    case $((RANDOM % 3)) in
        0) saved "$2" "$3" "$4" >"$file" ;;
        1) saved "$2" "$3" "$4" >"$file.tmp" && mv "$file.tmp" "$file" ;;
        2)
            # In one breath, also on a slow machine: the daemon sees what comes of both.
            if is_down "$node"; then node=; else kill -STOP "$(cat "$world/$node/pid")"; fi
            rm -f "$file"
            saved "$2" "$3" "$4" >"$file"
            if [ -n "$node" ]; then kill -CONT "$(cat "$world/$node/pid")"; fi
            ;;
    esac
}

# The cable, or where only root may cut it, beta's daemon.
cut() { if [ -n "${device:-}" ]; then ip link set "$device" down; else kill -STOP "$(cat "$world/beta/pid")"; fi; }
mend() { if [ -n "${device:-}" ]; then ip link set "$device" up; else kill -CONT "$(cat "$world/beta/pid")"; fi; }

# pause: nothing, or long enough for anything.
pause() { sleep "0.$(((RANDOM % 3) * (RANDOM % 20)))"; }

strike() {
    local node=beta
    if ((RANDOM % 2)); then node=alpha; fi
    down $node KILL
    [ "$ended" -eq 137 ] || fail "seed $seed, round $round: $node was not killed, it ended with $ended"
    struck=$((struck + 1))
    # Somebody saves while it is down.
    if ((RANDOM % 2)); then act; fi
    up $node
}

# act: the next of the saves that are due in this round, if there is one.
act() {
    local next=${due[0]:-}
    [ -n "$next" ] || return 0
    due=("${due[@]:1}")
    case $next in
        alpha*) save alpha "${next#alpha }" 2 "new $round" ;;
        beta*) save beta "${next#beta }" 1 "old $round" ;;
    esac
}

# judge NODE: at every path what alpha's programs saved last, and what beta's saved beside it.
judge() {
    local file round_old
    for file in $files; do
        saved "$file" 2 "new ${newest[$file]}" | cmp -s - "$world/$1/folder/$file" ||
            fail "seed $seed, round $round: $file on $1 is not what was saved last as version 2: $(head -c 200 "$world/$1/folder/$file" | tr '\0' ' ')"
        round_old=${olds[$file]:-}
        if [ -z "$round_old" ]; then continue; fi
        saved "$file" 1 "old $round_old" >"$world/old"
        held "$1" "$file" || fail "seed $seed, round $round: on $1 nothing holds what beta saved in $file as version 1"
    done
}

# warnings NODE: its alerts about formats and copies: code, path, versions and writer, one a line.
warnings() {
    ctl "$1" --json alerts | grep -o '"code":"[^"]*"[^}]*' | grep -E '^"code":"(format|conflict)\.' |
        sed -E 's/"(severity|state|firstSeen|lastSeen|text|cure)":"([^"\\]|\\.)*",?//g; s/"count":[0-9]*,?//g; s/,$//' | sort
}

# warned: both nodes warn of the same, of each thing once, and of each file that beta does not understand.
warned() {
    warnings alpha >"$world/warnings-alpha"
    warnings beta >"$world/warnings-beta"
    cmp -s "$world/warnings-alpha" "$world/warnings-beta" && [ -z "$(uniq -d "$world/warnings-alpha")" ] &&
        [ "$(sed -nE 's/^"code":"format.newer","subject":"([^"]*)","found":2,"supported":\[1,1\],"writer":"alpha"$/\1/p' \
            "$world/warnings-alpha")" = "$(printf '%s\n' $files | sort)" ] &&
        [ "$(grep -c '"format.newer"' "$world/warnings-alpha")" = 4 ]
}

held() {
    local copy
    for copy in "$world/$1/folder/${2%%.*}"*.conflict-*; do
        if cmp -s "$copy" "$world/old"; then return 0; fi
    done
    return 1
}

seed=${SEED:-$((RANDOM * 32768 + RANDOM))}
RANDOM=$seed
up alpha
up beta
pair
declare -A newest=() olds=()
struck=0
for file in $files; do
    saved "$file" 2 "new 0" >"$alpha/$file"
    newest[$file]=0
done
settle
for ((round = 1; round <= ROUNDS; round++)); do
    due=() olds=()
    for file in $files; do
        if ((RANDOM % 4)); then
            due+=("beta $file")
            olds[$file]=$round
        fi
        if ((RANDOM % 2)); then
            due+=("alpha $file")
            newest[$file]=$round
        fi
    done
    mapfile -t due < <(if [ "${#due[@]}" -gt 0 ]; then printf '%s\n' "${due[@]}" | shuf --random-source=<(yes "$RANDOM"); fi)
    is_cut=
    if ((RANDOM % 3 == 0)); then is_cut=yes; cut; fi
    kills=$((RANDOM % 3))
    # Chance alone may spare both to the end.
    if ((round == ROUNDS && struck == 0)); then strike; fi
    while [ "${#due[@]}" -gt 0 ]; do
        act
        pause
        if ((kills > 0 && RANDOM % 4 == 0)); then
            kills=$((kills - 1))
            strike
        fi
        if [ -n "$is_cut" ] && ((RANDOM % 4 == 0)); then is_cut=; mend; fi
    done
    if [ -n "$is_cut" ]; then mend; fi
    settle
    judge alpha
    judge beta
    soon "seed $seed, round $round: the alerts are not the same, or not one for each" warned
    rm -f "$alpha"/*.conflict-*
    settle
done
soon "seed $seed: the alerts are not the same in the end, or not one for each file" warned
[ "$(wc -l <"$world/warnings-alpha")" -eq 4 ] || fail "seed $seed: there are alerts about what is gone: $(cat "$world/warnings-alpha")"
[ "$struck" -gt 0 ] || fail "seed $seed: nobody was killed in $ROUNDS rounds"
echo "    $struck kills in $ROUNDS rounds"
