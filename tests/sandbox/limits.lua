-- More steps, seconds, memory and depth than a scenario gets, behind whatever catches errors.
--! an endless loop => 4 "more than 500000 steps"
while true do end
--! a loop that goes back => 4 "more than 500000 steps"
::again:: goto again
--! a loop of empty calls => 4 "more than 500000 steps"
local function f() return f() end
f()
--! a loop in pcall => 4 "more than 500000 steps"
while true do pcall(function() while true do end end) end
--! a loop of errors that are caught => 4 "more than 500000 steps"
while true do pcall(error) end
--! a loop in a handler of errors => 4 "more than 500000 steps"
xpcall(error, function() while true do end end)
--! a handler of errors that raises => 4 "more than 500000 steps"
while true do xpcall(error, function() error() end) end
--! a loop in coroutines => 4 "more than 500000 steps"
while true do coroutine.wrap(function() while true do end end)() end
--! many coroutines with few steps each => 4 "more than"
while true do coroutine.resume(coroutine.create(function() for i = 1, 400 do end end)) end
--! coroutines that are closed before any hook comes => 4 "error"
while true do coroutine.close(coroutine.create(function() end)) end
--! a coroutine that yields for ever => 4 "more than 500000 steps"
local co = coroutine.wrap(function() while true do coroutine.yield() end end)
while true do co() end
--! loops inside of coroutines inside of pcall => 4 "more than 500000 steps"
while true do pcall(coroutine.wrap(function() while true do pcall(function() while true do end end) end end)) end
--! a loop in a comparison => 4 "more than 500000 steps"
local t = {}
for i = 1, 100 do t[i] = -i end
table.sort(t, function() while true do end end)
--! comparisons that make no sense => 0 ""
local t = {}
for i = 1, 1000 do t[i] = i end
table.sort(t, function(a, b) return math.random() < 0.5 end)
table.sort(t, function() return true end)
return fine()
--! a loop in a replacement => 4 "more than 500000 steps"
("a"):rep(100):gsub("a", function() while true do end end)
--! a loop in the reader of a chunk => 4 "more than 500000 steps"
load(function() while true do end end)
--! a chunk that never ends => 4 "more"
load(function() return "x = 1 " end)
--! a loop in a rank => 4 "more than 500000 steps"
sim.program { on = cluster {}, rank = function() while true do end end }
--! a loop in a module => 4 "more than 500000 steps"
require "endless"
--! a loop in an iterator => 4 "more than 500000 steps"
for x in function() return 1 end do end
--! a loop over integers that wraps => 4 "more than 500000 steps"
for i = math.mininteger, math.maxinteger do end
--! a pattern that blows up => 4 "of processor time"
string.find(("a"):rep(40), ("a?"):rep(40) .. ("a"):rep(40))
--! a pattern that blows up, in pcall => 4 "of processor time"
pcall(string.find, ("a"):rep(40), ("a?"):rep(40) .. ("a"):rep(40))
--! a pattern that goes deep => 4 "of processor time"
("a"):rep(250000):find(("(.-)"):rep(30) .. ".-b" .. ("a-"):rep(200))
--! a pattern of many captures => 4 "too many captures"
("x"):find(("()"):rep(40))
--! calls with ever more arguments => 4 "error"
local function f(...) return f(1, ...) end
f()
--! a text without end => 4 "more than its 16 MiB of memory"
local s = "x"
while true do s = s .. s end
--! a text of a size => 4 "more than its 16 MiB of memory"
return ("x"):rep(1 << 30)
--! a text of no size => 4 "too large"
return ("x"):rep(1 << 62)
--! a text of a size with separators => 4 "error"
return ("x"):rep(1 << 40, ("y"):rep(1000))
--! a width => 4 "invalid conversion"
return ("%999999999d"):format(1)
--! a replacement that grows => 4 "more than its 16 MiB of memory"
return (("x"):rep(1000000)):gsub("x", ("y"):rep(1000))
--! texts that are packed => 4 "error"
return string.pack(("s8"):rep(1000), ("x"):rep(1000))
--! padding that is packed => 4 "out of limits"
return string.pack("!16 i17", 1)
--! a table without end => 4 "more than its 16 MiB of memory"
local t = {}
while true do t[#t + 1] = ("x"):rep(1000) .. #t end
--! a table without end, in pcall => 4 "error"
while true do pcall(function() local t = {} while true do t[#t + 1] = ("x"):rep(1000) .. #t end end) end
--! a table that is laid out at once => 4 "error"
table.move({ 1 }, 1, 1, 1 << 40)
local t = table.pack(table.unpack({}, 1, 1 << 24))
--! a range to unpack => 4 "too many results to unpack"
return table.unpack({}, 1, 1 << 40)
--! a range to unpack that wraps => 4 "too many results to unpack"
return table.unpack({}, math.mininteger, math.maxinteger)
--! a range to move => 4 "error"
table.move({}, 1, math.maxinteger, 2)
--! a range to move without end => 4 "error"
table.move({}, 1, 1 << 40, 2)
--! a range to concatenate => 4 "invalid value (nil)"
return table.concat({}, ",", 1, 1 << 40)
--! a place to insert at => 4 "position out of bounds"
table.insert({}, 1 << 40, 1)
--! selecting without end => 4 "index out of range"
select(math.mininteger, 1)
--! many coroutines => 4 "more than"
local t = {}
while true do t[#t + 1] = coroutine.create(function() end) end
--! many closures => 4 "more than"
local t = {}
while true do t[#t + 1] = function() return t end end
--! recursion => 4 "error"
local function f() return 1 + f() end
f()
--! recursion in pcall => 4 "error"
local function f() return pcall(f) end
f()
error "it came back"
--! recursion through gsub => 4 "error"
local function f() return (("x"):gsub("x", f)) end
f()
--! recursion through sort => 4 "error"
local function f() table.sort({ 1, 2, 3 }, f) return false end
f()
--! recursion through load => 4 "error"
local function f() return assert(load(f)) end
f()
--! recursion through coroutines => 4 "error"
local function f() return assert(coroutine.resume(coroutine.create(f))) end
f()
--! recursion through wrapped coroutines => 4 "C stack overflow"
local function f() return coroutine.wrap(f)() end
f()
--! recursion through tostring and concat => 4 "error"
local meta = {}
meta.__tostring = function(t) return ("%s"):format(t) end
return ("%s"):format(setmetatable({}, meta))
--! recursion through require => 4 "requires itself"
require "circle_a"
--! recursion through pairs => 4 "error"
local meta = {}
meta.__pairs = function(t) return pairs(t) end
pairs(setmetatable({}, meta))
--! recursion through ranks => 4 "error"
local function f() sim.program { on = cluster { gpus = 1 }, rank = f } end
f()
--! parentheses in parentheses => 4 "error"
assert(load("return " .. ("("):rep(100000) .. "1" .. (")"):rep(100000)))
--! tables in tables, as text => 4 "error"
assert(load("return " .. ("{"):rep(100000)))
--! functions in functions, as text => 4 "error"
assert(load(("return function() "):rep(10000)))
--! many local variables => 4 "too many local variables"
assert(load("local a " .. ("local a "):rep(300)))
--! many constants => 4 "error"
local t = {}
for i = 1, 200000 do t[i] = "x" .. i .. "=" .. i end
assert(load(table.concat(t, " ")))
--! many clusters => 4 "more than"
while true do sim.cluster { node = "dgx-a100", gpus = 8, link_speed = { 0.5 } } end
--! many jobs => 4 "error"
while true do sim.training { model = "gpt2-small", seq_len = 128, batch = { micro = 1 } } end
--! many problems => 4 "error"
local t = {}
for i = 1, 50000 do t["k" .. i] = i end
sim.training(t)
--! many options => 4 "error"
local t = {}
for i = 1, 20000 do t["o" .. i] = { default = i } end
sim.options(t)
--! many options again and again => 4 "error"
local i = 0
while true do i = i + 1 sim.options { ["o" .. i] = { default = 1, help = ("h"):rep(1000) } } end
--! many marks of a rank => 4 "error"
sim.program { on = cluster { gpus = 1 }, rank = function(r) while true do r:record "x" end end }
--! many operations of a rank => 4 "error"
sim.program { on = cluster { gpus = 1 }, rank = function(r) while true do r:compute { seconds = 1 } end end }
--! many streams of a rank => 4 "error"
sim.program { on = cluster { gpus = 1 }, rank = function(r) local i = 0 while true do i = i + 1 r:stream("s" .. i) end end }
--! many groups of ranks => 4 "error"
while true do sim.group { 1, 2, 3 } end
--! many models => 4 "error"
while true do sim.model.transformer { layers = 1, hidden = 64, heads = 1 } end
--! many files, one at a time => 4 "error"
while true do pcall(sim.model.hf, "config.json") end
--! many notes => 4 "error"
local notes = {}
for i = 1, 3000 do notes[i] = ("n"):rep(100000) .. i end
return sim.report { rows = { { name = "a", simulated = 1, published = 1, source = "x" } }, notes = notes }
