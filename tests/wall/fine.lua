-- A scenario with a module below its folder.
local sim = require "lockstep"
require "lib.part"
local cluster = sim.cluster { node = "dgx-a100", gpus = 8 }
local job = sim.training { model = "gpt2-124m", seq_len = 128, batch = { micro = 1 } }
return sim.study { on = cluster, run = job, vary = { gpus = { 1, 8 } } }
