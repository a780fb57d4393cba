# The table of `bench` from lines "row TAB contestant TAB figure", in the order in which rows were met, with the goals
# of the project beside them.
BEGIN {
    FS = "\t"
    columns = split("cp tar rsync unison syncthing syncd", names, " ")
}
!($1 in known) { known[$1] = 1; rows[++count] = $1 }
{ figure[$1, $2] = $3 }

# What syncd may need at most in this row: a number, or nothing if there is no goal or it cannot be told here.
function goal(row,    files) {
    if (row ~ /^small.* s$/ || row ~ /^mixed.* s$/) return multiple(row, "rsync", 1)
    if (row ~ /^big.* s$/) return multiple(row, "tar", 1)
    if (row ~ /^(middle|head).* s$/) return multiple(row, "rsync", 2)
    if (row ~ /^middle.*kB/) return bound(1300, "1300 kB")
    if (row ~ /^head.*kB/) return bound(200, "200 kB")
    if (row ~ /^move.* s$/) return bound(0.05, "0.050 s")
    if (row ~ /^move.*kB/) return bound(10, "10 kB")
    if (row ~ /^restart.* s$/) return bound(1, "1 s")
    if (row ~ /ms p50$/) return bound(10, "10 ms")
    if (row ~ /ms p99$/) return bound(50, "50 ms")
    if (row ~ /CPU/) return bound(0.1, "0.1 %")
    if (row ~ /resident/) {
        files = row
        gsub(/[^0-9]/, "", files)
        return bound(40 + files * 100 / 1048576, sprintf("%.1f MiB", 40 + files * 100 / 1048576))
    }
    return ""
}
function bound(value, text) { because = "at most " text; return value }
function multiple(row, name, times) {
    because = "at most " times " x " name
    return (row, name) in figure ? figure[row, name] * times : ""
}

END {
    printf "\n%-46s", ""
    for (i = 1; i <= columns; i++) printf "%*s", width(i), names[i]
    print "   goal"
    for (r = 1; r <= count; r++) line(rows[r])
    print "In brackets: how many times the figure of syncd."
    printf "%d goals reached, %d missed, %d not measured\n", reached, missed, unknown
    if (quick == "quick") print "These were the small sizes of BENCH=quick: the goals are about the full ones."
}
function width(column) { return names[column] == "syncd" ? 10 : 17 }
# A figure, and behind it how many times that of syncd it is.
function cell(row, name,    own) {
    if (!((row, name) in figure)) return "-"
    own = figure[row, "syncd"]
    if (name == "syncd" || own <= 0) return figure[row, name]
    own = figure[row, name] / own
    return sprintf(own < 100 ? "%s (%.2f)" : "%s (%.0f)", figure[row, name], own)
}
function line(row,    i, most, verdict) {
    printf "%-46s", row
    for (i = 1; i <= columns; i++) printf "%*s", width(i), cell(row, names[i])
    because = ""
    most = goal(row)
    if (because == "") { print ""; return }
    if (most == "" || !((row, "syncd") in figure)) {
        verdict = "not measured"; unknown++
    } else if (figure[row, "syncd"] + 0 <= most) {
        verdict = "reached"; reached++
    } else {
        verdict = sprintf("missed, %.1f times", figure[row, "syncd"] / most); missed++
    }
    printf "   %s: %s\n", because, verdict
}
