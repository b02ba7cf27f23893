-- The bubble: 8 stages, few micro-batches.
local sim = require "lockstep"

local cluster = sim.cluster {
  node = "dgx-a100",
  gpus = 64,
  fabric = "ib-hdr200",
}

local job = sim.training {
  model = "megatron-18.4b",
  batch = { global = 64, micro = 2 },
  parallel = { tp = 2, pp = 8 },
  precision = "bf16",
  software = "megatron",
}

return sim.study { on = cluster, run = job }
