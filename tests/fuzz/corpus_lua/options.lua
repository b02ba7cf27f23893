local sim = require "lockstep"
local opt = sim.options { gpus = { default = 8, min = 1, max = 64, help = "GPUs", values = { 8, 16 } }, fast = { default = true } }
local c = sim.cluster { nodes = { { node = sim.hw "dgx-a100", gpus = opt.gpus }, { node = "dgx-h100", gpus = 4 } }, fabric = sim.single_switch { link = "eth-10g" }, link_speed = sim.linear(0.5, 1, 2) }
local j = sim.training { model = sim.model.mlp { widths = { 784, 512, 10 } }, batch = { global = 96 }, data = { storage = "nfs-1gbe", sample_bytes = 784 }, strategy = "ddp", backend = "gloo" }
return { sim.study { on = c, run = j, vary = { global_batch = sim.range(96, 480, 96) } } }
