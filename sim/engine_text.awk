# C source without what decides no result: comments, blank lines, indentation. What stands in quotes stays as it is.
{
    out = ""
    for (i = 1; i <= length($0); i++) {
        c = substr($0, i, 1)
        two = substr($0, i, 2)
        if (comment) {
            if (two == "*/") { comment = 0; i++ }
        } else if (quote != "") {
            out = out c
            if (c == "\\") { i++; out = out substr($0, i, 1) }
            else if (c == quote) quote = ""
        } else if (two == "//") {
            break
        } else if (two == "/*") {
            comment = 1
            i++
        } else {
            if (c == "\"" || c == "'") quote = c
            out = out c
        }
    }
    quote = ""
    gsub(/^[ \t]+|[ \t]+$/, "", out)
    if (out != "") print out
}
