-- ring_all_reduce.lua: an all-reduce written as sends and receives, beside the library's own.
--
-- Each of n ranks sends 2 (n - 1) pieces of bytes / n to its right neighbour (Patarasuk and Yuan 2009). Every rank sends
-- and receives at the same time, so the two go on streams of their own; an event makes a piece wait for the one before.
local sim = require "lockstep"

local opt = sim.options {
  gpus = { default = 8, min = 2, max = 64, help = "GPUs in the ring" },
  mib  = { default = 256, min = 1, help = "MiB to reduce" },
}
local bytes = opt.mib * 1024 * 1024
local cluster = sim.cluster { node = "dgx-a100", gpus = opt.gpus, fabric = "ib-hdr200" }

local by_hand = sim.program {
  title = "Ring all-reduce by hand", on = cluster,
  rank = function(r)
    local right, left = (r.id + 1) % r.world, (r.id - 1) % r.world
    local out, into = r:stream "out", r:stream "in"
    for step = 1, 2 * (r.world - 1) do
      if step > 1 then out:wait("piece " .. step - 1) end
      out:send { to = right, bytes = bytes / r.world, tag = step }
      into:recv { from = left, tag = step }
      into:record("piece " .. step)
    end
    r:wait("piece " .. 2 * (r.world - 1))
  end,
}
local library = sim.program {
  title = "The library's all-reduce", on = cluster,
  rank = function(r) r:all_reduce { bytes = bytes } end,
}
return { by_hand, library }
