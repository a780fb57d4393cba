# depth 128, mode 000, sockets and loops: what can be synced is, and what cannot be is said and left alone
needs perl
needs_root
[ -z "${SANDBOX:-}" ] || skip "it wants a daemon with the rights of root, to whom nothing is closed; that of the unit has none"
paired_world
# deep FOLDER COUNT: a directory so many levels down.
deep() {
    local n
    cd "$1" || exit
    for ((n = 0; n < $2; n++)); do
        mkdir -p level && cd level || exit
    done
}
(deep "$alpha" 127 && echo bottom >bottom) || fail "no deep tree"
(
    cd "$alpha" || exit
    echo closed >closed && chmod 000 closed
    mkdir shut && echo in >shut/in && chmod 000 shut
    mkdir sealed && echo in >sealed/in && chmod 555 sealed
    ln -s . self
    ln -s ../.. up
    ln -s two one && ln -s one two
    perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => "socket", Listen => 1) or die'
)
[ -S "$alpha/socket" ] || fail "no socket was made"
settle
[ ! -e "$beta/socket" ] || fail "a socket was copied"
tells alpha '"path.special"' events || fail "nobody says that the socket is left out"
tells alpha '"leftOut":[{"path":"socket","reason":"path.special"}]' status || fail "the status does not list it: $(cat "$world/told")"
ctl alpha status >"$world/status" || fail "a socket is a reason not to be in sync: $(cat "$world/status")"
finds -F 'socket (path.special)' <"$world/status" || fail "the status does not list it for people: $(cat "$world/status")"
tells alpha '"path.special"' explain socket || fail "explain does not say why the socket stays: $(cat "$world/told")"
tells alpha 'syncd itself' explain .syncd || fail "explain does not know syncd's own directory: $(cat "$world/told")"
tells alpha 'the folder that is kept the same' explain "$alpha" || fail "explain does not know the folder: $(cat "$world/told")"
ctl alpha explain nothing >"$world/told" 2>&1 && fail "what is not there is explained: $(cat "$world/told")"
grep -qF "nothing lies there" "$world/told" || fail "explain does not say that nothing is there: $(cat "$world/told")"
printf '# not these\n*.tmp\n' >"$alpha/.syncignore"
settle
echo mine >"$alpha/a.tmp"
tells alpha 'line 2 of' explain a.tmp || fail "explain does not name the rule: $(cat "$world/told")"
agree
[ ! -e "$beta/a.tmp" ] || fail "what a rule leaves out was copied"
rm "$alpha/.syncignore"
soon "what no rule leaves out any more is not copied" test -e "$beta/a.tmp"
[ "$(deep "$beta" 127 && cat bottom)" = bottom ] || fail "the deep file is missing"
[ "$(stat -c %a "$beta/closed" "$beta/shut" "$beta/sealed" | xargs)" = "0 0 555" ] || fail "a mode is wrong"
# One deeper is not synced, and that is said.
(deep "$alpha" 128 && echo deeper >deeper) || fail "no deeper tree"
echo beside >"$alpha/beside"
soon "what is too deep holds up the rest" test -s "$beta/beside"
soon "nobody says that a path is too deep" warns_of alpha path.unsupported
(deep "$alpha" 127 && rm -r level) || fail "the deeper tree cannot be removed"
soon "the alert stays although nothing is too deep any more" warns_no_more_of alpha path.unsupported
rm -r "$beta/sealed"
soon "a directory nobody may write to does not go" test ! -e "$alpha/sealed"
