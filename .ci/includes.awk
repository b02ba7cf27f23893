# Holds every #include "…" against the table of folders in ARCHITECTURE.md: awk -f .ci/includes.awk ARCHITECTURE.md FILES
# A row is "folder: folders it includes". A folder may include only folders in rows above its own, so that no circle of
# includes can be; what goes against that order stands in the table with a "!" before it. sim is open to all.
function path(name) { sub(/^workload\//, "models/workload/", name); return name }
function folder_of(file) { sub(/\/[^\/]*$/, "", file); return file }

FILENAME == "ARCHITECTURE.md" && /^```/ { in_table = $0 == "```includes"; next }
FILENAME == "ARCHITECTURE.md" && in_table {
    folder = path(substr($1, 1, length($1) - 1))
    row[folder] = ++rows
    for (i = 2; i <= NF; i++) {
        name = $i
        against = sub(/^!/, "", name)
        name = path(name)
        allowed[folder, name] = 1
        if (against) excused[folder, name] = 1
    }
    next
}
FILENAME == "ARCHITECTURE.md" { next }

/^#include "/ {
    from = folder_of(FILENAME)
    split($2, quoted, "\"")
    to = folder_of(quoted[2])
    if (from == to) next
    if (!(from in row) && !complained[from]++) { bad("the folder " from " has no row in the table of ARCHITECTURE.md"); next }
    if (to ~ /^sim/ && from !~ /^sim/) next
    if (!((from, to) in allowed)) { bad(FILENAME " includes " quoted[2] ", and " from " may not include " to); next }
    used[from, to] = 1
    if (row[to] > row[from] && !((from, to) in excused))
        bad(FILENAME " includes " quoted[2] ", whose folder stands below its own: a circle may come of it")
}

function bad(text) { print text; failed = 1 }

END {
    if (!rows) bad("ARCHITECTURE.md has no table of folders")
    for (pair in allowed) {
        split(pair, names, SUBSEP)
        if (!(names[2] in row)) bad("the table names " names[2] ", which has no row")
        else if (!(pair in used)) bad("the table lets " names[1] " include " names[2] ", and nothing does")
        else if (pair in excused && row[names[2]] < row[names[1]]) bad("the ! before " names[2] " in the row of " names[1] " is not needed")
    }
    exit failed
}
