-- Llama 3 8B on 32 A100 with ZeRO 3.
local sim = require "lockstep"

local cluster = sim.cluster {
  node = "dgx-a100-80gb",
  gpus = 32,
  fabric = "ib-hdr200",
}

local job = sim.training {
  model = "llama-3-8b",
  seq_len = 4096,
  batch = { global = 256, micro = 1 },
  parallel = { tp = 1, pp = 1, zero = 3 },
  precision = "bf16",
  recompute = "full",
}

return sim.study { on = cluster, run = job }
