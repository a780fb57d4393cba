# a repository that is worked in, cloned and packed inside the folder is whole on the other node
needs git
new_world
# Packing deletes as much as a person who deletes a folder; that is another story.
sed -i 's/^;*delete-fuse-files = .*/delete-fuse-files = 1000/' "$world"/*/syncd.conf
grep -q '^delete-fuse-files = 1000' "$world/alpha/syncd.conf" || fail "the fuse is not set"
up alpha
up beta
pair
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0 \
    GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example

# commits FOLDER REPOSITORY COUNT
commits() {
    local n
    for ((n = 0; n < $3; n++)); do
        echo "$2 $n $RANDOM" >>"$1/$2/file$((n % 3))"
        git -C "$1/$2" add . || fail "git add failed in $1/$2"
        git -C "$1/$2" commit -q -m "$2 $n" || fail "git commit failed in $1/$2"
    done
}

# whole FOLDER REPOSITORY COMMITS
whole() {
    git -C "$1/$2" fsck --full --strict >"$world/fsck" 2>&1 || fail "$1/$2 is broken: $(cat "$world/fsck")"
    [ "$(git -C "$1/$2" rev-list --count HEAD)" -eq "$3" ] || fail "$1/$2 has other commits than $3"
    [ -z "$(git -C "$1/$2" status --porcelain)" ] || fail "$1/$2 is not clean: $(git -C "$1/$2" status --porcelain)"
}

git init -q -b main "$alpha/one" 2>"$world/git" || fail "$(cat "$world/git")"
commits "$alpha" one 5
settle
whole "$beta" one 5
commits "$beta" one 5
git clone -q "$beta/one" "$beta/two" 2>"$world/git" || fail "$(cat "$world/git")"
commits "$beta" two 2
settle
whole "$alpha" one 10
whole "$alpha" two 12
git -C "$alpha/one" checkout -q -b side HEAD~3
commits "$alpha" one 2
git -C "$alpha/one" checkout -q main
git -C "$alpha/one" merge -q -X ours -m merged side >"$world/git" 2>&1 || fail "$(cat "$world/git")"
git -C "$alpha/one" gc -q 2>"$world/git" || fail "git gc: $(cat "$world/git")"
settle
whole "$beta" one 13
git -C "$beta/one" checkout -q side
settle
whole "$alpha" one 9
no_conflicts
