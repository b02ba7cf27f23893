-- expert_parallel_twin.lua: a mixture of experts by hand, beside the built-in: equal to the picosecond.
--
-- The experts of each layer are spread over ep ranks: tokens travel to their experts and back in two all-to-alls
-- (Lepikhin et al. 2021). Experts' gradients are summed over the ranks that hold the same ones, all others over all.
-- Question to try: with --skew 1 some experts get more tokens than others. Every layer waits for the fullest rank: how
-- much longer is the step?
local sim, pieces = require "lockstep", require "pieces"

local opt = sim.options {
  gpus = { default = 16, min = 2, max = 64, help = "GPUs" },
  ep   = { default = 8, min = 2, max = 8, help = "GPUs over which experts are spread" },
  skew = { default = 0.0, min = 0, max = 2, help = "the k-th most chosen expert gets a share as k^-skew" },
  fidelity = { default = "fluid", values = { "fluid", "flow" }, help = "flow: collectives as all their messages" },
}
local cluster = sim.cluster { node = "dgx-h100", gpus = opt.gpus, fabric = "ib-ndr400" }
-- Plain SGD and 16-bit weights, so that a few GPUs are enough to try.
local job = sim.training { model = "qwen3-30b-a3b", parallel = { ep = opt.ep }, seq_len = 2048, precision = "bf16",
                           framework = "fused", expert_skew = opt.skew, recompute = "full", optimizer = "sgd", mixed_precision = false,
                           batch = { micro = 1 }, fidelity = opt.fidelity }
local blocks = sim.blocks { on = cluster, run = job }

local by_hand = sim.program {
  title = "Expert parallelism by hand", on = cluster, fidelity = opt.fidelity,
  rank = function(r)
    local spread, same, first = {}, {}, r.id - r.id % opt.ep
    for i = 1, opt.ep do spread[i] = first + i - 1 end
    for i = 1, r.world // opt.ep do same[i] = r.id % opt.ep + (i - 1) * opt.ep end
    local groups = { ep = sim.group(spread), dp = r.world_group, same_experts = #same > 1 and sim.group(same) or nil }
    local buckets, parameters, experts = pieces.buckets(r, blocks, groups), 0, 0
    for b = 1, #blocks do pieces.play(r, blocks[b].forward, groups, "F") end
    pieces.backward_with_buckets(r, blocks, groups, buckets, 1, #blocks)
    buckets.wait()
    for b = 1, #blocks do parameters, experts = parameters + blocks[b].parameters, experts + blocks[b].experts end
    r:compute { seconds = blocks.optimizer(parameters + experts), name = "optimizer" }
  end,
}
return { by_hand, sim.study { title = "Expert parallelism, built in", on = cluster, run = job } }
