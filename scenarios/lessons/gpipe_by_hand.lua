-- gpipe_by_hand.lua: a pipeline of four stages in a dozen lines.
--
-- Forward all micro-batches, then backward all, in opposite order (Huang et al. 2019). With p stages and m
-- micro-batches the pipeline idles (p - 1) / (m + p - 1) of the time: 43 % with 4 of each, 16 % with 16, 4.5 % with 64,
-- all that is not compute below: who waits in a receive waits for its neighbour's work. Messages are small here; large
-- ones share the stream with the work, and it waits longer.
-- Question to try: with --message "64 MiB", how many micro-batches does it take to idle less than a fifth of the time?
local sim = require "lockstep"

local opt = sim.options {
  batches = { default = 4, min = 1, max = 256, help = "micro-batches per step" },
  message = { default = "64 KiB", help = "between stages, for each micro-batch" },
}

return sim.program {
  title = "GPipe by hand: 4 stages, " .. opt.batches .. " micro-batches",
  on = sim.cluster { node = "dgx-station-a100", gpus = 4 },
  rank = function(r)
    local first, last = r.id == 0, r.id == r.world - 1
    for m = 1, opt.batches do
      if not first then r:recv { from = r.id - 1, tag = m } end
      r:compute { flops = 2e12, bytes = 40e6, name = "F" .. m }
      if not last then r:send { to = r.id + 1, bytes = opt.message, tag = m } end
    end
    for m = opt.batches, 1, -1 do
      if not last then r:recv { from = r.id + 1, tag = -m } end
      r:compute { flops = 4e12, bytes = 80e6, name = "B" .. m }
      if not first then r:send { to = r.id - 1, bytes = opt.message, tag = -m } end
    end
    r:all_reduce { group = r.world_group, bytes = "4 MiB", name = "grad norm" }
  end,
}
