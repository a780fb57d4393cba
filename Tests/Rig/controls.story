# the cuts of this rig bite: what was not synced is gone after one of the power, and one of the wire lets no plain connection through
if [ "$tier" != vm ]; then powercut alpha; fi
on alpha bash -c 'mkdir /root/control && cd /root/control && echo kept >kept && sync kept . && echo lost >lost' || broken "no control"
powercut alpha
power alpha
[ "$(on alpha cat /root/control/kept)" = kept ] || broken "the cut takes what was synced"
on alpha test ! -s /root/control/lost || broken "the cut takes nothing"
# Something that listens on every machine.
greets() { on alpha timeout 20 bash -c "exec 3<>/dev/tcp/${place[beta]}/22" 2>/dev/null; }
greets || broken "no plain connection before any cut"
for node in alpha beta; do
    cut_from "$node"
    ! greets || broken "the cut of $node lets a plain connection through"
    on "$node" ip neighbour flush dev eth0 nud permanent
    soon "the wire does not heal" greets
done
