-- halving_doubling.lua: an all-reduce of your own, beside the library's of the same name.
--
-- Reduce-scatter by halving: exchange half of what is left with a partner half as far away each time. Then all-gather by
-- doubling, back the same way (Rabenseifner 2004): 2 (n - 1) / n of the bytes in 2 log2(n) steps. At fidelity "flow" the
-- library sends the very same messages, so both take the same time to the picosecond. Question to try: from how many
-- MiB on is algorithm = "ring" as fast? It moves as many bytes in 2 (n - 1) steps.
local sim = require "lockstep"

local opt = sim.options {
  nodes = { default = 8, min = 2, max = 64, help = "nodes of one process each: a power of two" },
  mib   = { default = 64, min = 1, help = "MiB to reduce" },
}
local bytes, n = opt.mib * 1024 * 1024, opt.nodes
local nodes = {}
for i = 1, n do nodes[i] = { node = "dgx-a100", gpus = 1 } end
local cluster = sim.cluster { nodes = nodes, fabric = "ib-hdr200" }

local function program(title, rank)
  return sim.program { title = title, on = cluster, backend = "mpi", tensors = "cpu", fidelity = "flow", rank = rank }
end

local by_hand = program("Halving and doubling by hand", function(r)
  local out, into, step = r:stream "out", r:stream "in", 0
  local function exchange(distance, part)
    local partner = r.id ~ distance                          -- the rank whose number differs in that one bit
    if step > 0 then out:wait("step " .. step) end
    step = step + 1
    out:send { to = partner, bytes = part, tag = step }
    into:recv { from = partner, tag = step }
    into:record("step " .. step)
  end
  local distance = n // 2
  while distance >= 1 do exchange(distance, bytes * distance / n); distance = distance // 2 end
  distance = 1
  while distance < n do exchange(distance, bytes * distance / n); distance = distance * 2 end
  r:wait("step " .. step)
end)
local library = program("The library's all-reduce by halving and doubling", function(r)
  r:all_reduce { bytes = bytes, algorithm = "halving_doubling" }
end)
return { by_hand, library }
