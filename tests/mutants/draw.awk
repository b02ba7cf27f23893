# Every small mistake that can be made in C sources, in an order drawn from a seed:
#     awk -f tests/mutants/draw.awk -v seed=1 -v count=200 ROOMS
# Each line of ROOMS is "room file"; rooms take turns. A line of output is room, file, line, column, length and text, with
# tabs between: so many letters of the line from the column on become the text.
# Comments, words in quotes, rows of tables, CHECKs, the preprocessor and how much room is made are left alone.
BEGIN { FS = " "; OFS = "\t" }
!($1 in size) { rooms[++room_count] = $1; size[$1] = 0 }
{
    number = 0
    while ((getline line < $2) > 0) {
        number++
        is_macro = continues || line ~ /^#/
        continues = line ~ /\\$/
        if (!is_macro && line !~ /^ *\{[{"]|CHECK\(|arena_(alloc|array|shared_room)|^ *enum |_Static_assert|sizeof/) look($1, $2, number, line)
    }
    close($2)
}

# What is in quotes or comments becomes dots.
function masked(line,    i, letter, quote, out) {
    for (i = 1; i <= length(line); i++) {
        letter = substr(line, i, 1)
        if (quote == "") {
            if (substr(line, i, 2) == "//" || substr(line, i, 2) == "/*") break
            if (letter == "\"" || letter == "'") quote = letter
            out = out letter
        } else {
            if (letter == "\\") { out = out "."; i++ }
            else if (letter == quote) { quote = ""; out = out letter; continue }
            out = out "."
        }
    }
    return out
}

function add(room, file, number, column, length_, text) {
    sites[room, ++size[room]] = room OFS file OFS number OFS column OFS length_ OFS text
}

# Each place where the pattern matches; what is changed begins `after` letters later and is as long as `old`.
function each(room, file, number, text, pattern, after, old, new,    from) {
    for (from = 1; match(substr(text, from), pattern); from += RSTART)
        add(room, file, number, from + RSTART - 1 + after, length(old), new)
}

function look(room, file, number, line,    text, i, n, pair, from, digit) {
    text = masked(line)
    n = split("+ - - + * / / * % * < <= > >= <= < >= > == != != == && || || && += -= -= += *= /= /= *=", pair, " ")
    for (i = 1; i < n; i += 2) {
        from = pair[i]
        gsub(/[+*|]/, "[&]", from)
        each(room, file, number, text, " " from " ", 1, pair[i], pair[i + 1])
    }
    each(room, file, number, text, "[ (]![a-z(]", 1, "!", "")
    each(room, file, number, text, "fmin[(]", 0, "fmin", "fmax")
    each(room, file, number, text, "fmax[(]", 0, "fmax", "fmin")
    # Off by one, where the number is not the length of a declared array or of what is printed.
    if (text !~ /^ *(static |const )*(char|int|double|bool|[A-Z][A-Za-z]*) [*]*[a-z_]*\[|= \{0\}/)
        for (from = 1; match(substr(text, from), /[ (\[-][0-9][] ,;):]/); from += RSTART) {
            digit = substr(text, from + RSTART, 1)
            add(room, file, number, from + RSTART, 1, digit == 1 && from % 2 ? 0 : digit + 1)
        }
    # A return before the end, or a call, that does not happen.
    if (text ~ /^ +if \(.*\) (return|continue|break)[^;]*;$/ || text ~ /^ +[a-z_]+\([^=]*\);$/)
        add(room, file, number, 1, length(line), ";")
}

# Park and Miller (1988): every awk gives the same.
function draw(below) {
    state = state * 16807 % 2147483647
    return int(state / 2147483647 * below)
}

END {
    state = seed % 2147483646 + 1
    for (i = 0; i < 20; i++) draw(1)
    for (taken = 0; count > 0 && room_count > 0; taken = 0) {
        for (i = 1; i <= room_count && count > 0; i++) {
            room = rooms[i]
            if (size[room] == 0) continue
            at = 1 + draw(size[room])
            print sites[room, at]
            sites[room, at] = sites[room, size[room]--]
            count--
            taken++
        }
        if (!taken) break
    }
}
