-- Calling the module while it calls the script, yielding across it, and changing what it reads.
--! a simulation inside of a rank => 4 "error:"
sim.program { on = cluster { gpus = 1 }, rank = function() sim.simulate { on = cluster {}, run = sim.study {} } end }
--! a program inside of a rank's program => 0 ""
local inner
local outer = sim.program { on = cluster { gpus = 1 }, rank = function(r) inner = sim.program { on = cluster { gpus = 1 }, rank = function(q) q:compute { seconds = 1 } end } r:compute { seconds = 1 } end }
return { outer, inner }
--! a rank that outlives its program => 4 "error:"
local kept
sim.program { on = cluster { gpus = 1 }, rank = function(r) kept = r r:compute { seconds = 1 } end }
kept:compute { seconds = 1 }
--! a rank of another program => 4 "error:"
local kept
sim.program { on = cluster { gpus = 1 }, rank = function(r) kept = r r:compute { seconds = 1 } end }
sim.program { on = cluster { gpus = 1 }, rank = function(r) kept:compute { seconds = 1 } end }
--! a rank that yields => 4 "error:"
local co = coroutine.wrap(function() sim.program { on = cluster { gpus = 1 }, rank = function() coroutine.yield() end } end)
co()
--! a rank that yields outside of coroutines => 4 "outside a coroutine"
sim.program { on = cluster { gpus = 1 }, rank = function() coroutine.yield() end }
--! a rank from a coroutine that is dropped => 4 "error:"
local co = coroutine.create(function(r) r:compute { seconds = 1 } coroutine.yield() end)
sim.program { on = cluster { gpus = 1 }, rank = function(r) coroutine.resume(co, r) error "dropped" end }
--! a comparison that yields => 4 "attempt to yield across a C-call boundary"
coroutine.wrap(function() table.sort({ 3, 2, 1 }, function() coroutine.yield() end) end)()
--! a replacement that yields => 4 "attempt to yield across a C-call boundary"
coroutine.wrap(function() ("x"):gsub("x", coroutine.yield) end)()
--! __index that yields in a field => 4 "error:"
coroutine.wrap(function() sim.cluster(setmetatable({}, { __index = function() coroutine.yield() end })) error "not asked" end)()
--! a module that yields => 4 "attempt to yield across a C-call boundary"
coroutine.wrap(function() require "yields" end)()
--! a coroutine that closes itself => 4 "error:"
local co
co = coroutine.create(function() coroutine.close(co) end)
assert(coroutine.resume(co))
--! a coroutine that goes on with itself => 4 "cannot resume non-suspended coroutine"
local co
co = coroutine.create(function() assert(coroutine.resume(co)) end)
assert(coroutine.resume(co))
--! a coroutine that wakes its maker => 4 "cannot resume non-suspended coroutine"
local main = coroutine.running()
coroutine.wrap(function() assert(coroutine.resume(main)) end)()
--! a table that shrinks while it is sorted => 0 ""
local t = {}
for i = 1, 1000 do t[i] = -i end
table.sort(t, function(a, b) for i = 1, #t do t[i] = nil end return (a or 0) < (b or 0) end)
return fine()
--! a table that grows while it is counted => 4 "error"
local t = { a = 1 }
for k in pairs(t) do t[k .. "x"] = 1 t[k] = nil end
local i = 0
for k in pairs(t) do i = i + 1 for j = 1, 100 do t["y" .. i .. j] = {} end end
error "it ended"
--! a list that changes while it is read => 4 "error:"
local t = setmetatable({}, {})
t[1] = setmetatable({}, { __index = function() for i = 1, 1000 do t[i] = i end return "dgx-a100" end })
sim.cluster { nodes = t }
--! a study in a comparison => 4 "error:"
table.sort({ 2, 1 }, function() return sim.study {} end)
--! a fit inside of a fit => 4 "error:"
local function fit(n) return sim.fit { unknowns = { a = { start = 1, min = 0.1, max = 10 } }, rows = { { m = 1 }, { m = 2 } }, measured = "m", predict = function() return fit(n + 1).a end } end
fit(1)
--! a rank that declares options => 4 "error:"
sim.program { on = cluster { gpus = 1 }, rank = function() sim.options { x = { default = {} } } end }
--! a mark that nobody reaches => 4 "error:"
return sim.program { on = cluster { gpus = 1 }, rank = function(r) r:wait "never" end }
--! a message that nobody receives => 4 "error:"
return sim.program { on = cluster { gpus = 2 }, rank = function(r) if r.id == 0 then r:send { to = 1, bytes = 1 } end end }
--! a message to oneself => 4 "error:"
return sim.program { on = cluster { gpus = 1 }, rank = function(r) r:send { to = 0, bytes = 1 } end }
--! a rank method on a stranger => 4 "error:"
sim.program { on = cluster { gpus = 1 }, rank = function(r) r.compute({}, { seconds = 1 }) end }
--! an error that is an error's handler => 4 "error"
xpcall(function() error(setmetatable({}, { __tostring = function() error "again" end })) end, function(e) error(e) end)
error(setmetatable({}, { __tostring = function() error "again" end }))
