# a cut in both ways and in one is survived, what both changed meanwhile is kept twice
install_on alpha
install_on beta
pair
user alpha 'echo base >f'
settle
cut
soon "alpha does not notice" unlinked alpha
soon "beta does not notice" unlinked beta
user alpha 'echo here >f && echo only >at-alpha'
user beta 'echo there >f && rm -f none && mkdir d && echo only >d/at-beta'
heal
settle
[ "$(on alpha bash -c 'cat /srv/shared/f*' | LC_ALL=C sort | tr '\n' ' ')" = "here there " ] || fail "an edit is lost"
for node in alpha beta; do
    # Only what it says is lost: what it hears arrives.
    cut_from "$node"
    reaches "$node" && broken "the cut of $node lets a plain connection through"
    soon "$node does not notice" unlinked "$node"
    user "$node" "echo $node >one-way-$node"
    heal
    settle
done
