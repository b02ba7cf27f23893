-- Tricks with metatables: finalizers, weak tables, closers, handles, read-only tables.
--! a finalizer => 4 "scenarios have no finalizers"
setmetatable({}, { __gc = function() end })
--! a finalizer that is set later does not run => 4 "it did not run"
local ran = false
local meta = {}
for i = 1, 1000 do setmetatable({}, meta) end
meta.__gc = function() ran = true end
for i = 1, 1000 do setmetatable({}, getmetatable(setmetatable({}, {}))) end
local hog = {}
for i = 1, 20000 do hog[i % 10] = ("x"):rep(1000) .. i end
assert(ran, "it did not run")
--! a finalizer through __index => 4 "it did not run"
local ran = false
local t = setmetatable({}, setmetatable({}, { __index = { __gc = function() ran = true end } }))
t = nil
for i = 1, 20000 do t = ("x"):rep(1000) .. i end
assert(ran, "it did not run")
--! a closer that raises => 4 "from the closer"
do local x <close> = setmetatable({}, { __close = function() error "from the closer" end }) end
--! a closer that runs on and on => 4 "more than 500000 steps"
do local x <close> = setmetatable({}, { __close = function() while true do end end }) end
--! a closer that raises in a coroutine that is closed => 4 "from the closer"
local co = coroutine.create(function() local x <close> = setmetatable({}, { __close = function() error "from the closer" end }) coroutine.yield() end)
coroutine.resume(co)
assert(coroutine.close(co))
--! closers that never end, one in another => 4 "error"
local function deep() local x <close> = setmetatable({}, { __close = deep }) error "again" end
deep()
--! a circle of __index => 4 "loop"
local t = {}
setmetatable(t, { __index = t })
getmetatable(t).__index = setmetatable({}, { __index = t })
return t.x
--! a long chain of __index => 4 "loop"
local t = {}
for i = 1, 3000 do t = setmetatable({}, { __index = t }) end
return t.x
--! a long chain of __newindex => 4 "loop"
local t = {}
for i = 1, 3000 do t = setmetatable({}, { __newindex = t }) end
t.x = 1
--! a long chain of __call => 4 "error"
local f = function() end
for i = 1, 300 do f = setmetatable({}, { __call = f }) end
f()
error "called"
--! __index that calls itself => 4 "stack overflow"
local t = setmetatable({}, { __index = function(t, k) return t[k + 1] end })
return t[1]
--! __eq that calls itself => 4 "stack overflow"
local meta = {}
meta.__eq = function(a, b) return a == b end
return setmetatable({}, meta) == setmetatable({}, meta)
--! __concat that calls itself => 4 "stack overflow"
local meta = {}
meta.__concat = function(a, b) return a .. b end
return setmetatable({}, meta) .. "x"
--! __tostring that calls itself => 4 "stack overflow"
local t = setmetatable({}, { __tostring = function(t) return tostring(t) end })
return tostring(t)
--! __tostring that gives no text => 4 "must return a string"
print(setmetatable({}, { __tostring = function() return {} end }))
--! __name that is no name => 4 "cannot be added"
local t = setmetatable({}, { __name = "\27[31mred" })
error(pcall(function() return t + 1 end) and "" or "it cannot be added")
--! __len that lies => 4 "error"
return table.unpack(setmetatable({}, { __len = function() return 1 << 30 end }))
--! __len that gives a text => 4 "object length is not an integer"
return table.concat(setmetatable({}, { __len = function() return "many" end }))
--! __pairs that never ends => 4 "more than 500000 steps"
for _ in pairs(setmetatable({}, { __pairs = function() return function() return 1 end end })) do end
--! a read-only library through pairs => 4 "cannot be changed"
for name in pairs(string) do string[name] = nil end
--! a handle's metatable => 4 "a string"
assert(type(getmetatable(cluster {})) == "table", "the metatable is a " .. type(getmetatable(cluster {})))
--! a handle's fields => 4 "cannot be changed"
cluster {}.gpus = 3
--! a handle's fields by rawset => 4 "table expected"
rawset(cluster {}, "gpus", 3)
--! a handle's fields by rawget => 4 "table expected"
rawget(cluster {}, "gpus")
--! a handle as a metatable => 4 "nil or table expected"
setmetatable({}, cluster {})
--! a metatable for a handle => 4 "table expected"
setmetatable(cluster {}, {})
--! a handle that is collected while it is used => 0 ""
local function study() return sim.study { on = cluster {}, run = sim.training { model = "gpt2-small", seq_len = 128, batch = { micro = 1 } } } end
local s = study()
for i = 1, 20000 do local t = ("x"):rep(1000) .. i end
return s
--! the environment of a function by __index => 4 "no variable \"secret\""
local function f() return secret end
return f()
--! a weak table => 4 "weak tables"
local t = setmetatable({}, { __mode = "v" })
--! a table that is made weak later, and its keys in order => 4 "error"
local meta = {}
local t = setmetatable({}, meta)
meta.__mode = "v"
for i = 1, 20000 do t[("k%d"):format(i) .. ("z"):rep(1000)] = {} end
for k in pairs(t) do assert(k:find "^k%d+z+$") end
error "all keys were whole"
--! a protected metatable that hides itself => 4 "cannot be changed"
setmetatable(setmetatable({}, { __metatable = false }), {})
