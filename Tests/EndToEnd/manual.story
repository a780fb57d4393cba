# the manual pages are sound and name each other, and the completions work in the shells that are here
needs man
root=$(realpath ../..)
world=$(mktemp -d /tmp/syncd-e2e-XXXXXX)
for page in "$root"/docs/man/*; do
    man --warnings -l "$page" >"$world/page" 2>"$world/complaints" || fail "$page: $(head -n 3 "$world/complaints")"
    [ ! -s "$world/complaints" ] || fail "$page: $(head -n 3 "$world/complaints")"
    grep -q '^NAME' "$world/page" || skip "this man shows no pages: $(head -n 2 "$world/page")"
    # A page that is referred to is there, if it is one of ours.
    # shellcheck disable=SC2013
    for other in $(sed 's/\\-/-/g' "$page" | sed -nE 's/^\.BR (sync[a-z.-]+) \(([1-8])\).*/\1.\2/p'); do
        [ -e "$root/docs/man/$other" ] || fail "$page refers to $other"
    done
done

bash -n "$root/config/completions/syncctl.bash" || fail "bash cannot read its completion"
# complete_line WORD...: what bash offers for the last of them.
complete_line() {
    bash -c 'source "$1/config/completions/syncctl.bash"; shift
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _syncctl; echo "${COMPREPLY[*]}"' - "$root" "$@"
}
offers() {
    local wanted=$1 found
    shift
    found=$(complete_line "$@")
    [[ $found = $wanted ]] || fail "of $*: $found"
}
offers 'status' syncctl sta
offers 'show ack' syncctl --config /x alerts ''
offers '--watch' syncctl status --w
offers 'in-sync connected initial-import' syncctl wait --for ''
offers 'strict' syncctl lock --mode s
offers 'check show' syncctl doc ''
offers '' syncctl --config ''
offers '' syncctl lock a -- st
offers '*unpair*doctor*' syncctl --json ''
for shell in zsh fish; do
    if ! command -v "$shell" >/dev/null; then continue; fi
    file=$root/config/completions/syncctl.fish
    if [ "$shell" = zsh ]; then file=$root/config/completions/_syncctl; fi
    "$shell" -n "$file" >"$world/complaints" 2>&1 || fail "$shell: $(head -n 3 "$world/complaints")"
    [ ! -s "$world/complaints" ] || fail "$shell: $(head -n 3 "$world/complaints")"
done
if command -v fish >/dev/null; then
    fish -c "source $root/config/completions/syncctl.fish; complete -C 'syncctl alerts '" >"$world/out" 2>&1
    grep -q '^ack' "$world/out" || fail "fish offers: $(cat "$world/out")"
fi
