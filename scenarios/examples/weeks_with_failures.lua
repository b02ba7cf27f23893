-- weeks_with_failures.lua: Llama 2 70B for some 30 days on 2,048 H100 that fail as Llama 3's did (Meta 2024). What would
-- help more of the job's weeks: fewer failures, quicker repairs, spares, other checkpoints?
--   lockstep explain weeks_with_failures.lua
local sim = require "lockstep"

local cluster = sim.cluster {
  node = "dgx-h100", gpus = 2048, fabric = sim.rail_fat_tree { link = "ib-ndr400" }, storage = "superpod-storage",
  faults = { rates = "llama3-h100", spares = 4 },
}
local job = sim.training {
  model = "llama-2-70b", seq_len = 4096, tokens = "5T", batch = { micro = 1, global = 2048 }, zero = 1,
  parallel = { tp = 4, pp = 4, vpp = 10, sequence_parallel = true },
  checkpoint = { storage_units = 2 },
}
return sim.study { title = "Llama 2 70B on 2,048 H100 that fail", on = cluster, run = job }
