-- What a script would do that had got out of the sandbox. It runs in build/tests/unguarded, whose Lua has io, os, C
-- modules and calls to the kernel, behind the wall that `lockstep run` raises. Every attempt must be refused; with
-- `--expect through` it says how many go through where there is no wall.
local sim = require "lockstep"

local opt = sim.options {
    expect = { default = "refused", help = "refused or through" },
    allowed = { default = "", help = "attempts that this command line allows, with commas" },
    worker = { default = 0, help = "1 where only workers get" },
}

local through, count = {}, 0
local function attempt(name, is_refused)
    count = count + 1
    if not is_refused and not ("," .. opt.allowed .. ","):find("," .. name .. ",", 1, true) then through[#through + 1] = name end
end

-- Lua's own libraries.
local function cannot_open(path, mode)
    local file = io.open(path, mode)
    if file then file:close() end
    return not file
end
attempt("io_read", cannot_open("/etc/passwd", "r"))
attempt("io_read_outside", cannot_open("../outside/secret.txt", "r"))
attempt("io_write", cannot_open("../outside/io.txt", "w"))
attempt("io_append", cannot_open("../outside/secret.txt", "a"))
attempt("io_lines", not pcall(io.lines, "/etc/passwd"))
attempt("io_tmpfile", not pcall(function() io.tmpfile():write("x") end))
attempt("io_popen", not pcall(function() assert(io.popen("id"):read("a") ~= "") end))
attempt("os_execute", not os.execute("true"))
attempt("os_remove", not os.remove("../outside/os.txt"))
attempt("os_rename", not os.rename("../outside/os2.txt", "os2.txt"))
attempt("os_tmpname", not pcall(os.tmpname))
attempt("dofile", not pcall(function() assert(package.searchpath("secret", "../outside/?.txt")) end))
attempt("loadlib", not package.loadlib("libanl.so.1", "*"))

-- Calls to the kernel.
for _, name in ipairs(system.attempts()) do attempt(name, system.refuses(name)) end

-- What only the process that keeps the store may do.
if opt.worker == 1 then attempt("store_folder", cannot_open("../store/from-worker.txt", "w")) end

if opt.expect == "refused" then
    print(("%d attempts, %d went through: %s"):format(count, #through, table.concat(through, " ")))
    assert(#through == 0, "the wall has holes")
else
    print(("%d of %d go through without a wall: %s"):format(#through, count, table.concat(through, " ")))
end

-- And it is a scenario like any other.
assert(not cannot_open("module.lua", "r"), "a file beside the script cannot be read")
require "module"
local cluster = sim.cluster { node = "dgx-a100", gpus = 8 }
local job = sim.training { model = "gpt2-124m", seq_len = 128, batch = { micro = 1 } }
return sim.study { on = cluster, run = job, vary = { gpus = { 1, 8 } }, plot = { "scaling" } }
