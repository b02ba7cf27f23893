-- interleaved_twin.lua: the interleaved pipeline by hand, beside the built-in schedule: equal to the picosecond.
--
-- Every GPU holds vpp chunks of the model, pp chunks apart; micro-batches go round the GPUs vpp times, in rounds of pp.
-- The bubble is a vpp-th of 1F1B's, for vpp times the messages (Narayanan et al. 2021, section 2.2). Question to try:
-- with the slow link, from how many chunks on is the step longer again?
local sim, pieces = require "lockstep", require "pieces"

local opt = sim.options {
  model  = { default = "gpt2-355m", help = "what is trained" },
  stages = { default = 4, min = 2, max = 16, help = "GPUs" },
  chunks = { default = 2, min = 2, max = 8, help = "chunks of the model on each GPU" },
  rounds = { default = 2, min = 1, max = 32, help = "micro-batches for each GPU" },
}
local pp, vpp, count = opt.stages, opt.chunks, opt.stages * opt.rounds
local cluster = sim.cluster { node = "dgx-a100", gpus = pp, fabric = "ib-hdr200" }
local job = sim.training { model = opt.model, framework = "megatron", parallel = { pp = pp, vpp = vpp }, schedule = "interleaved",
                           seq_len = 512, precision = "bf16", batch = { micro = 2, accumulation = count } }
local blocks = sim.blocks { on = cluster, run = job }

local by_hand = sim.program {
  title = "Interleaved by hand", on = cluster,
  rank = function(r)
    local stage, passes = pieces.stage(r, blocks, 1), count * vpp
    local function micro_batch(k) return k // (pp * vpp) * pp + k % pp + 1 end
    local function turn(k) return k % (pp * vpp) // pp end
    local ahead = math.min(2 * (pp - 1 - r.id) + (vpp - 1) * pp, passes)
    if count == pp then ahead = passes end
    for k = 0, passes + ahead - 1 do
      if k < passes then stage.forward(turn(k) * pp + r.id + 1, micro_batch(k)) end
      local b = k - ahead
      if b >= 0 then stage.backward((vpp - 1 - turn(b)) * pp + r.id + 1, micro_batch(b)) end
    end
    stage.finish()
  end,
}
return { by_hand, sim.study { title = "Interleaved, built in", on = cluster, run = job } }
