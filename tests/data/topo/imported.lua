-- A node as nvidia-smi topo -m showed it, in a scenario.
local sim = require "lockstep"
local node = sim.node { file = "v100_sxm2_x8_1nic_hybridmesh.txt", gpu = "V100", like = "dgx-1-v100" }
return sim.study {
  on = sim.cluster { node = node, gpus = 32,
    fabric = { kind = "dragonfly", link = "ib-edr100", groups = 2, switches_per_group = 2, nodes_per_switch = 1 } },
  run = sim.training { model = "gpt2-124m", batch = { global = 64, micro = 1 }, precision = "fp16" },
}
