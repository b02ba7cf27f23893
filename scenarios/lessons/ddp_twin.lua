-- ddp_twin.lua: DistributedDataParallel by hand, beside the built-in strategy: both take the same time to the picosecond.
--
-- Every rank computes its own batch. In the last backward a bucket of gradients is reduced as soon as its blocks are
-- through, while the blocks before them still compute (Li et al. 2020). Question to try: with --bucket-mib 1000 all
-- gradients wait for the end of backward; how much of the step is that?
local sim, pieces = require "lockstep", require "pieces"

local opt = sim.options {
  model      = { default = "gpt2-124m", help = "what is trained" },
  gpus       = { default = 16, min = 2, max = 64, help = "GPUs, each with a replica" },
  bucket_mib = { default = 25, min = 1, help = "MiB of gradients reduced in one go" },
  batches    = { default = 2, min = 1, max = 16, help = "micro-batches before gradients are reduced" },
  fidelity = { default = "fluid", values = { "fluid", "flow", "packet" }, help = "flow: collectives as all their messages; packet: what leaves a node of them as packets" },
}
local cluster = sim.cluster { node = "dgx-a100", gpus = opt.gpus, fabric = "ib-hdr200" }
local job = sim.training { model = opt.model, framework = "megatron", batch = { micro = 2, accumulation = opt.batches }, seq_len = 512,
                           fidelity = opt.fidelity, precision = "bf16", bucket = opt.bucket_mib .. " MiB" }
local blocks = sim.blocks { on = cluster, run = job }

local by_hand = sim.program {
  title = "DDP by hand", on = cluster, fidelity = opt.fidelity,
  rank = function(r)
    local groups = { dp = r.world_group }
    local buckets, parameters = pieces.buckets(r, blocks, groups), 0
    for m = 1, opt.batches do
      for b = 1, #blocks do pieces.play(r, blocks[b].forward, groups, "F" .. m) end
      if m == opt.batches then break end
      for b = #blocks, 1, -1 do pieces.play(r, blocks[b].backward, groups, "B" .. m) end
    end
    pieces.backward_with_buckets(r, blocks, groups, buckets, 1, #blocks)
    buckets.wait()
    for b = 1, #blocks do parameters = parameters + blocks[b].parameters end
    r:compute { seconds = blocks.optimizer(parameters), name = "optimizer" }
  end,
}
return { by_hand, sim.study { title = "DDP, built in", on = cluster, run = job } }
