# every row of the decision table, once with one node down and once with it frozen, ends the same on both nodes
paired_world

# Both really change: beta sees nothing of what alpha does, nor alpha of what beta does.
part() { if [ "$1" = down ]; then down beta; else kill -STOP "$(cat "$world/beta/pid")"; fi; }
heal() { if [ "$1" = down ]; then up beta; else kill -CONT "$(cat "$world/beta/pid")"; fi; }
holds() { [ "$(cat "$1" 2>&1)" = "$2" ] || fail "$way: $1 is $(cat "$1" 2>&1) instead of $2"; }
# copy PATTERN CONTENT: exactly one conflict copy, with this content.
copy() {
    mapfile -t copies < <(compgen -G "$alpha/$way/$1")
    [ "${#copies[@]}" -eq 1 ] || fail "$way: there are ${copies[*]} for $1"
    holds "${copies[0]}" "$2"
}
# leads NAME TARGET, and copied_link PATTERN TARGET
leads() {
    [ "$(readlink "$alpha/$way/$1")" = "$2" ] ||
        fail "$way: $1 does not lead to $2: $(ls -ld "$alpha/$way/$1" 2>&1)"
}
copied_link() {
    mapfile -t copies < <(compgen -G "$alpha/$way/$1")
    [ "${#copies[@]}" -eq 1 ] || fail "$way: there are ${copies[*]} for $1"
    leads "${copies[0]##*/}" "$2"
}
gone() { if [ -e "$alpha/$way/$1" ] || [ -L "$alpha/$way/$1" ]; then fail "$way: $1 is still there"; fi; }

# The tree both agree on.
base() {
    local name
    for name in edit-edit edit-delete delete-edit delete-delete mode-edit edit-mode mode-mode touch-delete \
        file-dir file-link move-edit edit-move move-move move-delete same-edit; do
        echo "base $name" >"$1/$name.txt"
    done
    mkdir -p "$1"/{dir-file,dir-link,dir-edit,dir-new,dir-move,dir-both,dir-gone/in,swap-1,swap-2}
    for name in dir-file dir-link dir-edit dir-move dir-both dir-gone/in; do echo "in $name" >"$1/$name/in"; done
    echo one >"$1/swap-1/x"
    echo two >"$1/swap-2/x"
    ln -s old "$1/link-link"
    ln -s old "$1/link-file"
    chmod 644 "$1"/*.txt
}

# What each does while they are apart; alpha first, so that beta is later wherever both write.
on_alpha() {
    echo "alpha edit-edit" >edit-edit.txt
    echo "alpha edit-delete" >edit-delete.txt
    rm delete-edit.txt delete-delete.txt
    chmod 600 mode-edit.txt
    echo "alpha edit-mode" >edit-mode.txt
    chmod 600 mode-mode.txt
    touch -d '2001-01-01' touch-delete.txt
    rm file-dir.txt && mkdir file-dir.txt && echo inside >file-dir.txt/inside
    echo "alpha file-link" >file-link.txt
    mv move-edit.txt move-edit-moved.txt
    echo "alpha edit-move" >edit-move.txt
    mv move-move.txt moved-by-alpha.txt
    mv move-delete.txt move-delete-moved.txt
    echo same >same-edit.txt
    echo "alpha dir-file" >dir-file/in
    echo "alpha dir-link" >dir-link/new
    echo "alpha dir-edit" >dir-edit/in
    echo "alpha dir-new" >dir-new/new
    mv dir-move dir-moved
    mv dir-both dir-both-alpha
    rm -r dir-gone
    mv swap-1 swap && mv swap-2 swap-1 && mv swap swap-2
    ln -sfn alpha link-link
    ln -sfn alpha link-file
    echo "alpha new" >new-new.txt
    mkdir new-dir && echo alpha >new-dir/alpha
    echo "alpha file" >new-kind
}
on_beta() {
    echo "beta edit-edit" >edit-edit.txt
    rm edit-delete.txt
    echo "beta delete-edit" >delete-edit.txt
    rm delete-delete.txt
    echo "beta mode-edit" >mode-edit.txt
    chmod 640 edit-mode.txt
    chmod 700 mode-mode.txt
    rm touch-delete.txt
    echo "beta file-dir" >file-dir.txt
    rm file-link.txt && ln -s elsewhere file-link.txt
    echo "beta move-edit" >move-edit.txt
    mv edit-move.txt edit-move-moved.txt
    mv move-move.txt moved-by-beta.txt
    rm move-delete.txt
    echo same >same-edit.txt
    rm -r dir-file && echo "beta dir-file" >dir-file
    rm -r dir-link && ln -s elsewhere dir-link
    rm -r dir-edit dir-new
    echo "beta dir-move" >dir-move/in
    echo new >dir-move/new
    mv dir-both dir-both-beta
    rm -r dir-gone
    ln -sfn beta link-link
    rm link-file && echo "beta link-file" >link-file
    echo "beta new" >new-new.txt
    mkdir new-dir && echo beta >new-dir/beta
    mkdir new-kind && echo beta >new-kind/in
}

# What must have become of it, on both nodes.
judge() {
    local in=$alpha/$way
    holds "$in/edit-edit.txt" "beta edit-edit"
    copy 'edit-edit.conflict-alpha-*.txt' "alpha edit-edit"
    holds "$in/edit-delete.txt" "alpha edit-delete"
    holds "$in/delete-edit.txt" "beta delete-edit"
    gone delete-delete.txt
    holds "$in/mode-edit.txt" "beta mode-edit"
    holds "$in/edit-mode.txt" "alpha edit-mode"
    [ "$(cd "$in" && stat -c %a mode-edit.txt edit-mode.txt mode-mode.txt | xargs)" = "600 640 700" ] ||
        fail "$way: a mode is wrong: $(cd "$in" && stat -c '%a %n' mode-edit.txt edit-mode.txt mode-mode.txt)"
    gone touch-delete.txt
    holds "$in/file-dir.txt/inside" inside
    copy 'file-dir.conflict-beta-*.txt' "beta file-dir"
    leads file-link.txt elsewhere
    copy 'file-link.conflict-alpha-*.txt' "alpha file-link"
    holds "$in/move-edit.txt" "beta move-edit"
    holds "$in/move-edit-moved.txt" "base move-edit"
    holds "$in/edit-move.txt" "alpha edit-move"
    holds "$in/edit-move-moved.txt" "base edit-move"
    gone move-move.txt
    holds "$in/moved-by-alpha.txt" "base move-move"
    holds "$in/moved-by-beta.txt" "base move-move"
    gone move-delete.txt
    holds "$in/move-delete-moved.txt" "base move-delete"
    holds "$in/same-edit.txt" same
    judge_directories
    holds "$in/new-new.txt" "beta new"
    copy 'new-new.conflict-alpha-*.txt' "alpha new"
    holds "$in/new-dir/alpha" alpha
    holds "$in/new-dir/beta" beta
    holds "$in/new-kind/in" beta
    copy 'new-kind.conflict-alpha-*' "alpha file"
    [ "$(find "$in" -name '*.conflict-*' | wc -l)" -eq 9 ] ||
        fail "$way: these are not nine conflicts: $(find "$in" -name '*.conflict-*')"
}
judge_directories() {
    holds "$in/dir-file/in" "alpha dir-file"
    copy 'dir-file.conflict-beta-*' "beta dir-file"
    holds "$in/dir-link/new" "alpha dir-link"
    gone dir-link/in
    copied_link 'dir-link.conflict-beta-*' elsewhere
    holds "$in/dir-edit/in" "alpha dir-edit"
    holds "$in/dir-new/new" "alpha dir-new"
    holds "$in/dir-move/in" "beta dir-move"
    holds "$in/dir-move/new" new
    holds "$in/dir-moved/in" "in dir-move"
    gone dir-both
    holds "$in/dir-both-alpha/in" "in dir-both"
    holds "$in/dir-both-beta/in" "in dir-both"
    gone dir-gone
    holds "$in/swap-1/x" two
    holds "$in/swap-2/x" one
    leads link-link beta
    copied_link 'link-link.conflict-alpha-*' alpha
    holds "$in/link-file" "beta link-file"
    copied_link 'link-file.conflict-alpha-*' alpha
}

for way in down frozen; do
    mkdir "$alpha/$way"
    base "$alpha/$way"
    settle
    part $way
    begin_log alpha
    (cd "$alpha/$way" && on_alpha) || fail "alpha's edits failed"
    # Beta is later wherever both write.
    mapfile -t written < <(printf "$way/%s\n" {edit-edit,edit-delete,edit-mode,mode-mode,file-link,edit-move,same-edit,new-new}.txt \
        {delete-edit,delete-delete}.txt mode-edit.txt move-edit-moved.txt moved-by-alpha.txt file-dir.txt/inside \
        dir-{file,edit}/in dir-{link,new}/new link-link link-file new-dir/alpha new-kind)
    soon "alpha does not date what it did before beta does anything" logs alpha "${written[@]}"
    (cd "$beta/$way" && on_beta) || fail "beta's edits failed"
    heal $way
    settle
    judge
done
[ "$(ctl alpha --json conflicts)" = "$(ctl beta --json conflicts)" ] || fail "the nodes list different conflicts"
