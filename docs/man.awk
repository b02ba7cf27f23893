# A manual page, in mdoc, of what a command's --help prints: awk -v command=run -v about="what it does" -v date="May 1, 2026"
# -f docs/man.awk. Without a command it is that of the program, from `lockstep --help`.
function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/…/, "...", text)
    gsub(/\|/, "|\\:", text) # a line may break there
    return text ~ /^[.']/ ? "\\&" text : text
}
# A line a sentence, none longer than 80 letters.
function put(text,    words, count, i, line, word) {
    count = split(text, words, / +/)
    line = ""
    for (i = 1; i <= count; i++) {
        word = escaped(words[i])
        if (word == "") continue
        if (line != "" && length(line) + length(word) > 78) {
            print line
            line = ""
        }
        line = line == "" ? word : line " " word
        if (words[i] ~ /[a-z0-9)"][.?]$/ && i < count) {
            print line
            line = ""
        }
    }
    if (line != "") print line
}
function entry(name, text) {
    print ".It Xo"
    put(name)
    print ".Xc"
    put(text)
}
function literal(on) {
    if (on != in_literal) print on ? ".Bd -literal -offset indent" : ".Ed"
    in_literal = on
}
# A paragraph is begun by the line after an empty one.
function prose(line) {
    literal(line ~ /^ /)
    if (line == "") {
        awaited = 1
        return
    }
    if (awaited && !in_literal && paragraphs++) print ".Pp"
    awaited = 0
    sub(/^  /, "", line)
    if (in_literal)
        print escaped(line)
    else
        put(line)
}
function begin_list() {
    literal(0)
    if (!in_list) print command ? ".Sh OPTIONS" : ".Sh COMMANDS"
    if (!in_list) print ".Bl -tag -width " (command ? "Ds" : "completion")
    in_list = 1
}
function flush_entry() {
    if (name != "") entry(name, text)
    name = text = ""
}
BEGIN {
    full = command ? "lockstep-" command : "lockstep"
    printf ".Dd %s\n.Dt %s 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd %s\n", date, toupper(full), full, about
}
command && /^usage: / {
    print ".Sh SYNOPSIS"
    put(substr($0, 8))
    in_usage = 1
    next
}
in_usage && /^ / {
    sub(/^ +/, "")
    print ".br"
    put($0)
    next
}
!described {
    described = 1
    in_usage = 0
    print ".Sh DESCRIPTION"
}
# "  --name VALUE   what it is", with what it is on the next line where the name is long; of the program "  run   what it does".
command && /^  (-[a-zA-Z], )?--[a-z]/ || !command && /^  [a-z]+ / && commands {
    begin_list()
    flush_entry()
    line = substr($0, 3)
    if (match(line, command ? "  +" : " +")) {
        name = substr(line, 1, RSTART - 1)
        text = substr(line, RSTART + RLENGTH)
    } else {
        name = line
    }
    next
}
in_list && /^   / {
    sub(/^ +/, "")
    text = text == "" ? $0 : text " " $0
    next
}
/^Commands:$/ {
    commands = 1
    next
}
in_list && /./ {
    flush_entry()
    print in_list == 1 ? ".El\n.Sh EXIT STATUS" : ".Pp"
    in_list = 2
    put($0)
    next
}
!in_list { prose($0) }
END {
    literal(0)
    flush_entry()
    if (in_list == 1) print ".El"
    printf ".Sh SEE ALSO\n"
    print command ? ".Xr lockstep 1" : ".Xr lockstep-plan 1 ,\n.Xr lockstep-run 1"
}
