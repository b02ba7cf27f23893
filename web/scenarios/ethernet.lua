-- GPT-2 over a lab's Ethernet: what the network takes.
local sim = require "lockstep"

local cluster = sim.cluster {
  node = "rtx3090-workstation",
  gpus = 8,
  fabric = "eth-1g",
}

local job = sim.training {
  model = "gpt2-124m",
  batch = { global = 128, micro = 8 },
  parallel = { tp = 1, pp = 1 },
  precision = "fp16",
}

return sim.study { on = cluster, run = job }
