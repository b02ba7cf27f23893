local sim = require "lockstep"
local opt = sim.options {
  gpus   = { default = 64, min = 8, help = "GPUs in the cluster" },
  fabric = { default = "ib-ndr400", help = "scale-out network" },
}
local cluster = sim.cluster {
  node   = sim.hw "dgx-h100", gpus   = opt.gpus,
  fabric = sim.rail_fat_tree { link = opt.fabric, oversubscription = 1 },
  price  = { gpu_hour = 2.49, currency = "USD" },
}
local job = sim.training {
  model     = sim.model.get "gpt3-6.7b",
  tokens    = "2T", seq_len = 2048,
  batch     = { global = 1024, micro = 1 },
  parallel  = { tp = 8, pp = 1, dp = "fill" },
  precision = "bf16", zero = 1, recompute = "selective", framework = "megatron",
  overlap   = { grad_reduce = true },
}
job:expect { memory = "< 76 GiB", mfu = "> 0.35" }
return sim.study { on = cluster, run = job, seeds = 5,
  vary = { gpus = sim.geometric(8, 256, 2) }, plot = { "scaling", "breakdown" },
  published = { { gpus = 64, mfu = 0.44, source = "nobody" } }, notes = { "made up" } }
