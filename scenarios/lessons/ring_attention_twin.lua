-- ring_attention_twin.lua: context parallelism by hand, beside the built-in: equal to the picosecond.
--
-- cp ranks share each sequence. Keys and values go once around their ring while attention computes on what is there (Liu
-- et al. 2023); in backward their gradients too. Gradients of weights are summed over all ranks, those of one sequence
-- as well. Question to try: at which --seq-len does attention hide the ring?
local sim, pieces = require "lockstep", require "pieces"

local opt = sim.options {
  model   = { default = "llama-3-8b", help = "what is trained" },
  gpus    = { default = 16, min = 2, max = 64, help = "GPUs" },
  cp      = { default = 4, min = 2, max = 16, help = "GPUs that share a sequence" },
  seq_len = { default = 8192, min = 64, help = "tokens of a sequence" },
  fidelity = { default = "fluid", values = { "fluid", "flow" }, help = "flow: collectives as all their messages" },
}
local cluster = sim.cluster { node = "dgx-h100", gpus = opt.gpus, fabric = "ib-ndr400" }
local job = sim.training { model = opt.model, parallel = { cp = opt.cp }, seq_len = opt.seq_len, precision = "bf16",
                           framework = "fused", recompute = "full", optimizer = "sgd", mixed_precision = false, batch = { micro = 1 },
                           fidelity = opt.fidelity }
local blocks = sim.blocks { on = cluster, run = job }

local by_hand = sim.program {
  title = "Ring attention by hand", on = cluster, fidelity = opt.fidelity,
  rank = function(r)
    local ring, first, parameters = {}, r.id - r.id % opt.cp, 0
    for i = 1, opt.cp do ring[i] = first + i - 1 end
    local groups = { cp = sim.group(ring), dp = r.world_group }
    local buckets = pieces.buckets(r, blocks, groups)
    for b = 1, #blocks do pieces.play(r, blocks[b].forward, groups, "F") end
    pieces.backward_with_buckets(r, blocks, groups, buckets, 1, #blocks)
    buckets.wait()
    for b = 1, #blocks do parameters = parameters + blocks[b].parameters end
    r:compute { seconds = blocks.optimizer(parameters), name = "optimizer" }
  end,
}
return { by_hand, sim.study { title = "Ring attention, built in", on = cluster, run = job } }
