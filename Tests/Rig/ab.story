# AB-1: apart, both give one note another schedule; they meet, one has the place, the other is complete in quarantine, and a person may choose
install_on alpha
install_on beta
for node in alpha beta; do on "$node" cp /usr/share/doc/syncd/examples/models.d/schedules.json /etc/syncd/models.d/ || fail "no sample model"; done
pair
# note NODE SCHEDULE, and schedule NODE NAME TIME: what an application saves.
note() { user "$1" "printf '{\"title\": \"Water the plants\", \"schedule\": \"%s\"}\n' $2 >schedules/notes/A1.json"; }
schedule() { user "$1" "printf '{\"note\": \"A1\", \"at\": \"%s\"}\n' $3 >schedules/times/$2.json"; }
user alpha 'mkdir -p schedules/notes schedules/times'
schedule alpha B1 09:00
note alpha B1
settle
cut
for node in alpha beta; do soon "$node does not notice" unlinked "$node"; done
schedule alpha B2 10:00
note alpha B2
user alpha 'rm schedules/times/B1.json'
schedule beta B3 11:00
note beta B3
user beta 'rm schedules/times/B1.json'
heal
settle
# live NODE: the schedules that it shows.
live() { on "$1" bash -c 'cd /srv/shared/schedules/times && echo *'; }
contest() { on "$1" syncctl --json conflicts | sed -nE 's/.*"id":"(r[0-9a-f]*)".*/\1/p'; }
held=$(live alpha)
[[ $held = B[23].json ]] && [ "$(live beta)" = "$held" ] || fail "alpha shows $held, beta $(live beta)"
id=$(contest alpha)
[ -n "$id" ] && [ "$(contest beta)" = "$id" ] || fail "the contest is not the same on both: $(on alpha syncctl conflicts; on beta syncctl conflicts)"
winner=${held%.json}
if [ "$winner" = B2 ]; then loser=B3; else loser=B2; fi
for node in alpha beta; do
    on "$node" grep -q "\"$winner\"" /srv/shared/schedules/notes/A1.json || fail "the note of $node is not turned to $winner"
    on "$node" syncctl conflicts show "$id" >"$world/shown" || fail "$(cat "$world/shown")"
    grep -q "$loser" "$world/shown" || fail "$node does not know the loser: $(cat "$world/shown")"
done
# Edits go on.
for n in 1 2 3; do for node in alpha beta; do schedule "$node" "$winner" "1$n:00"; settle; done; done
on beta syncctl conflicts take "$id" "Schedule/$loser" >"$world/out" 2>&1 || fail "take: $(cat "$world/out")"
settle
[ "$(live alpha)" = "$loser.json" ] && [ "$(live beta)" = "$loser.json" ] || fail "the roles are not swapped: $(live alpha), $(live beta)"
for node in alpha beta; do
    [ "$(on "$node" syncctl --json conflicts)" = '{"conflicts":[]}' ] || fail "$node still has a conflict: $(on "$node" syncctl conflicts)"
done
