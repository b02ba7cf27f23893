-- all_to_all.lua: an exchange of 32 GPUs over a tree that is narrower and narrower, packet by packet: each pair in turn,
-- and all pairs at once, which the queues of the leaves have to hold.
local sim = require "lockstep"
local opt = sim.options { size = { default = "4 MB", help = "that each GPU sends" } }

local exchanges = {}
for _, narrower in ipairs { 1, 4 } do
  local cluster = sim.cluster {
    node = "dgx-h100", gpus = 32,
    fabric = sim.fat_tree { link = "roce-400", nodes_per_leaf = 2, oversubscription = narrower },
  }
  for _, algorithm in ipairs { "pairwise", "linear" } do
    exchanges[#exchanges + 1] = sim.packets {
      collective = "all_to_all", on = cluster, algorithm = algorithm, size = opt.size,
      title = ("all_to_all, %s, 1:%d"):format(algorithm, narrower),
    }
  end
end
return exchanges
