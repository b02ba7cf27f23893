-- GPT-3 175B on 1,024 H100.
local sim = require "lockstep"

local cluster = sim.cluster {
  node = "dgx-h100",
  gpus = 1024,
  fabric = "ib-ndr400",
}

local job = sim.training {
  model = "gpt3-175b",
  batch = { global = 1536, micro = 1 },
  parallel = { tp = 8, pp = 8 },
  precision = "bf16",
  software = "megatron",
}

return sim.study { on = cluster, run = job }
