-- Reaching what a scenario has no business with: files, processes, the debugger, binary chunks.
--! the file library => 4 "no variable \"io\""
io.open("/etc/passwd")
--! the system library => 4 "no variable \"os\""
os.execute("id")
--! the debugger => 4 "no variable \"debug\""
debug.getregistry()
--! the package library => 4 "no variable \"package\""
package.loadlib("libc.so.6", "*")
--! a file as a program => 4 "no variable \"dofile\""
dofile("/etc/passwd")
--! a file as a chunk => 4 "no variable \"loadfile\""
loadfile("/etc/passwd")
--! the old loader of texts => 4 "no variable \"loadstring\""
loadstring("return 1")
--! the collector => 4 "no variable \"collectgarbage\""
collectgarbage("count")
--! the old environments => 4 "no variable \"setfenv\""
setfenv(1, {})
--! the old modules => 4 "no variable \"module\""
module("x")
--! libraries through the table of globals => 4 "no variable \"io\""
return _G.io
--! libraries through the environment => 4 "no variable \"os\""
return _ENV["os"]
--! libraries behind rawget => 4 "nothing was there"
assert(rawget(_G, "io") or rawget(_G, "os") or rawget(_G, "debug"), "nothing was there")
--! libraries through the metatable of the globals => 4 "a string"
assert(type(getmetatable(_G)) == "table", "the metatable is a " .. type(getmetatable(_G)))
--! libraries through next => 4 "nothing was there"
for name in pairs(_G) do assert(name ~= "io" and name ~= "os" and name ~= "debug" and name ~= "package") end
error "nothing was there"
--! another environment's libraries => 4 "index a nil value (global 'io')"
load("io.open('/etc/passwd')", "x", "t", {})()
--! no environment at all => 4 "attempt to index a nil value"
load("return io.open", "x", "t", nil)()
--! a chunk that puts its own environment back => 4 "no variable \"os\""
local _ENV = setmetatable({}, { __index = _G })
os.exit(0)
--! a function as binary => 4 "string has no \"dump\""
return string.dump(function() end)
--! dump as a method => 4 "string has no \"dump\""
return ("x").dump
--! a binary chunk => 4 "binary chunk"
assert(load("\27LuaT\0\x19\x93\r\n\x1a\n"))
--! a binary chunk by its mode => 4 "binary chunk"
assert(load("\27LuaT", "x", "b"))
--! a binary chunk in pieces => 4 "binary chunk"
local piece = 0
assert(load(function() piece = piece + 1 return ({ "\27", "Lua", "T" })[piece] end))
--! a binary chunk with both modes => 4 "binary chunk"
assert(load("\27LuaT", "x", "bt", {}))
--! a chunk that names itself after a file => 4 "hello"
assert(load("error 'hello'", "@/etc/passwd"))()
--! a chunk that names itself after another line => 4 "hello"
assert(load("error('hello', 2)", "=s.lua:7"))()
--! a module of C => 4 "no module \"evil\""
require "evil"
--! the module's own tables => 4 "cannot be changed"
sim.cluster = nil
--! the module's own tables by rawset => 4 "cannot be changed"
rawset(sim, "cluster", print)
--! the module's own metatable => 4 "cannot be changed"
setmetatable(sim, {})
--! the models' table => 4 "cannot be changed"
sim.model.get = nil
--! another metatable for all strings => 4 "a string"
assert(type(getmetatable("")) == "table", "the metatable is a " .. type(getmetatable("")))
--! strings' methods => 4 "string cannot be changed"
string.rep = print
--! strings' methods by rawset => 4 "cannot be changed"
rawset(string, "rep", print)
--! tables' functions by rawset => 4 "cannot be changed"
rawset(table, "concat", print)
--! print in place of another => 4 "\"print\" is part of the library"
print = error
--! require in place of another => 4 "\"require\" is part of the library"
require = load
--! the version by name => 4 "is part of the library"
_VERSION = "6"
--! the seed of chance => 4 "the seed of a scenario is not its own to set"
math.randomseed(1)
--! the time => 4 "no variable \"os\""
return os.time()
--! warnings, which Lua prints by itself => 4 "no variable \"warn\""
warn("@on")
