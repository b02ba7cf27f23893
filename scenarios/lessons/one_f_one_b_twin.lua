-- one_f_one_b_twin.lua: the 1F1B pipeline by hand, beside the built-in schedule: equal to the picosecond.
--
-- Stage s runs pp - 1 - s forwards ahead, then one forward and one backward in turns, then the backwards that are left
-- (Narayanan et al. 2019, 2021). It keeps at most pp - s micro-batches where GPipe keeps them all, and idles as long.
-- Question to try: how many micro-batches does it take to idle less than a tenth of the time?
local sim, pieces = require "lockstep", require "pieces"

local opt = sim.options {
  model   = { default = "gpt2-355m", help = "what is trained" },
  stages  = { default = 4, min = 2, max = 16, help = "GPUs, each with a part of the layers" },
  batches = { default = 8, min = 1, max = 256, help = "micro-batches of a step" },
}
local cluster = sim.cluster { node = "dgx-a100", gpus = opt.stages, fabric = "ib-hdr200" }
local job = sim.training { model = opt.model, framework = "megatron", parallel = { pp = opt.stages }, schedule = "1f1b", seq_len = 512,
                           precision = "bf16", batch = { micro = 2, accumulation = opt.batches } }
local blocks = sim.blocks { on = cluster, run = job }

local by_hand = sim.program {
  title = "1F1B by hand", on = cluster,
  rank = function(r)
    local stage, count = pieces.stage(r, blocks, 1), opt.batches
    local ahead = math.min(r.world - 1 - r.id, count)
    for m = 1, count + ahead do
      if m <= count then stage.forward(r.id + 1, m) end
      if m > ahead then stage.backward(r.id + 1, m - ahead) end
    end
    stage.finish()
  end,
}
return { by_hand, sim.study { title = "1F1B, built in", on = cluster, run = job } }
