# the cuts of this rig bite: what was not synced is gone after one of the power, and one of the wire lets no plain connection through
if [ "$tier" != vm ]; then powercut alpha; fi
# keeps FILE: written and synced, with its name.
keeps() { on alpha bash -c "mkdir -p /root/control && cd /root/control && echo kept >$1 && sync $1 . .."; }
is_kept() { [ "$(on alpha cat "/root/control/$1" 2>/dev/null)" = kept ]; }
keeps kept && on alpha bash -c 'cd /root/control && echo lost >lost' || broken "no control"
powercut alpha
# From now on the disk loses all that it may lose.
RIG_LOSS=all power alpha
is_kept kept || broken "the cut takes what was synced"
on alpha test ! -s /root/control/lost || broken "the cut takes nothing"
# A kernel that does not ask its disk to flush: the same sync is not worth anything.
keeps again && on alpha mount -o remount,nobarrier / && on alpha grep -q ' / ext4 .*nobarrier' /proc/mounts || broken "barriers stay"
keeps behind || broken "no control"
powercut alpha
power alpha
is_kept again || broken "the cut takes what was synced and flushed"
on alpha test ! -s /root/control/behind || broken "the disk keeps what was never flushed"
[ "$(lost_to_cuts alpha)" -gt 0 ] || broken "the disk has lost nothing: $(cat "$world/alpha/tolls")"
# Something that listens on every machine.
greets() { on alpha timeout 20 bash -c "exec 3<>/dev/tcp/${place[beta]}/22" 2>/dev/null; }
greets || broken "no plain connection before any cut"
for node in alpha beta; do
    cut_from "$node"
    ! greets || broken "the cut of $node lets a plain connection through"
    on "$node" ip neighbour flush dev eth0 nud permanent
    soon "the wire does not heal" greets
done
