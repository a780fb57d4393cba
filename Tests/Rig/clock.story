# clocks that are set forward and back, also over a loss of power, lose nothing, bring nothing back, and are told of
[ "$tier" = vm ] || set_clock alpha ''
install_on alpha
install_on beta
pair
warns() { on "$1" syncctl --json alerts | grep -q '"code":"clock.skew"'; }
warns_no_more() { ! warns "$1"; }
# meet_again: clocks are compared when the nodes meet.
meet_again() {
    crash beta
    boot beta
    soon "they do not meet" linked beta
}
user alpha 'echo base | tee edited deleted by-alpha >by-beta'
settle
for change in '+1 day' '-2 days' '+23 hours 50 minutes'; do
    set_clock alpha "$change"
    user alpha "echo 'alpha $change' >edited && echo '$change' >by-alpha"
    settle
    # Later than alpha's, whatever the clocks say.
    user beta "echo 'beta $change' >edited && echo '$change' >by-beta && rm deleted"
    settle
    for node in alpha beta; do
        [ "$(on "$node" bash -c 'cd /srv/shared && cat edited by-alpha by-beta')" = "beta $change"$'\n'"$change"$'\n'"$change" ] ||
            fail "on $node an edit is taken for an old one after $change"
        on "$node" test ! -e /srv/shared/deleted || fail "what was deleted is back on $node after $change"
    done
    user alpha "echo again >deleted"
    settle
    meet_again
    if [ "$change" = '+23 hours 50 minutes' ]; then break; fi
    soon "nobody says that the clocks differ after $change" warns alpha
done
settle
# While it is off its clock is put right: it wakes up ten minutes before it went.
set_clock alpha '+20 minutes'
user alpha 'echo ahead >edited && sync edited . && echo fresh >fresh && sync fresh .'
powercut alpha
power alpha
right_clock alpha
boot alpha
settle
user alpha 'echo right >by-alpha'
settle
[ "$(on beta bash -c 'cd /srv/shared && cat edited fresh by-alpha')" = $'ahead\nfresh\nright' ] || fail "the cut under a wrong clock has lost something"
soon "the clocks are said to differ after they agree again" warns_no_more alpha
[ "$(on alpha syncctl --json conflicts)" = '{"conflicts":[]}' ] || fail "a conflict: $(on alpha syncctl conflicts)"
