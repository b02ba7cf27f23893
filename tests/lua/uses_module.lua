-- Modules are found beside the script, once, whatever the folder the program runs in.
local sim = require "lockstep"
local parts = require "safe_module"
assert(parts == require "safe_module" and parts.double(4) == 8)
local cluster = sim.cluster { node = "dgx-a100", gpus = parts.double(4) }
return sim.study { on = cluster, run = sim.training { model = "gpt2-124m", batch = { micro = 4 } } }
