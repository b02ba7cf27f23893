-- What a script may not do, each as a pair: a function that tries, and what the error must say.
local tries = {
    { function() return io end, "no variable \"io\"" },
    { function() return os end, "no variable \"os\"" },
    { function() return debug end, "no variable \"debug\"" },
    { function() return package end, "no variable \"package\"" },
    { function() return dofile end, "no variable \"dofile\"" },
    { function() return loadfile end, "no variable \"loadfile\"" },
    { function() return collectgarbage end, "no variable \"collectgarbage\"" },
    { function() return string.dump end, "string has no \"dump\"" },
    { function() string.rep = nil end, "string cannot be changed" },
    { function() rawset(string, "rep", 1) end, "cannot be changed" },
    { function() setmetatable(string, {}) end, "cannot be changed" },
    { function() setmetatable(_G, {}) end, "cannot be changed" },
    { function() pairs = 1 end, "\"pairs\" is part of the library" },
    { function() undeclared = 1 end, "sets the variable \"undeclared\"" },
    { function() return prnit end, "no variable \"prnit\"" },
    { function() return math.sqtr(2) end, "math has no \"sqtr\"" },
    { function() setmetatable({}, { __gc = function() end }) end, "no finalizers" },
    { function() math.randomseed(1) end, "not its own to set" },
    { function() string.format("%p", {}) end, "differ from run to run" },
    { function() string.format("%-10p", {}) end, "differ from run to run" },
    { function() for _ in pairs { [{}] = 1 } do end end, "no fixed order" },
    { function() next { [print] = 1 } end, "no fixed order" },
    { function() assert(load("\27Lua")) end, "binary chunk" },
    { function() assert(load("\27Lua", "x", "b")) end, "binary chunk" },
    { function() assert(load(function() return "\27Lua" end)) end, "binary chunk" },
    { function() assert(load("return io"))() end, "no variable \"io\"" },
    { function() require "/etc/passwd" end, "cannot be the name of a module" },
    { function() require "../secret" end, "cannot be the name of a module" },
    { function() require "a..b" end, "cannot be the name of a module" },
    { function() require ".hidden" end, "cannot be the name of a module" },
    { function() require "" end, "cannot be the name of a module" },
    { function() require "no_such_module" end, "no module \"no_such_module\"" },
    { function() local deep = "x" return deep:rep(1 << 40) end, "too large" },
    { function() local function f() return f() + 1 end f() end, "stack overflow" },
    { function() local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x end, "loop" },
}
for i, try in ipairs(tries) do
    local ok, message = pcall(try[1])
    assert(not ok, "try " .. i .. " went through: " .. try[2])
    assert(tostring(message):find(try[2], 1, true), "try " .. i .. ": " .. tostring(message) .. " lacks: " .. try[2])
end
assert(getmetatable("") == "read-only" and getmetatable(_G) == "read-only" and getmetatable(string) == "read-only")
assert(tostring {} == "table" and tostring(print) == "function" and string.format("%s", {}) == "table")

-- What it may: variables of its own at the top, functions that change them, text loaded as text.
counter = 0
function count() counter = counter + 1 end
count()
assert(counter == 1 and load("return counter + 1")() == 2 and load("return x", "n", "t", { x = 7 })() == 7)

-- Loops in a fixed order.
local keys = {}
for k in pairs { b = 1, a = 2, [10] = 3, [-1] = 4, [2.5] = 5, [true] = 6, [false] = 7, aa = 8 } do keys[#keys + 1] = tostring(k) end
assert(table.concat(keys, " ") == "-1 2.5 10 a aa b false true")
local visited = {}
local t = { a = 1, b = 2, c = 3 }
for k in pairs(t) do t.b = nil visited[#visited + 1] = k end
assert(table.concat(visited, " ") == "a c")
assert(next {} == nil and next { z = 1, y = 2 } == "y" and next({ z = 1, y = 2 }, "y") == "z" and next({ y = 2 }, "y") == nil)
local proxy = setmetatable({}, { __pairs = function() return next, { p = 1 }, nil end })
for k, v in pairs(proxy) do assert(k == "p" and v == 1) end

-- A stable sort, also by comparisons that make no sense.
local list = {}
for i = 1, 1000 do list[i] = { key = i % 7, place = i } end
table.sort(list, function(a, b) return a.key < b.key end)
for i = 2, 1000 do
    local a, b = list[i - 1], list[i]
    assert(a.key < b.key or (a.key == b.key and a.place < b.place))
end
table.sort(list, function() return true end)
local words = { "b", "a", "B" }
table.sort(words)
assert(table.concat(words) == "Bab")

for i = 1, 1000 do
    local x, y, z = math.random(), math.random(6), math.random(-3, 3)
    assert(x >= 0 and x < 1 and y >= 1 and y <= 6 and math.type(y) == "integer" and z >= -3 and z <= 3)
end
assert(not pcall(math.random, 0.5) and not pcall(math.random, 2, 1) and math.type(math.random(0)) == "integer")
return "all is well"
