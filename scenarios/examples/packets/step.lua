-- step.lua: a training step on four nodes over a tree that is narrower than they are, by flows that share its links and as
-- packets that wait in its queues, under two transports. Question to try: with --narrower 1, who of them agree?
local sim = require "lockstep"
local opt = sim.options { narrower = { default = 4, min = 1, max = 16, help = "times that a leaf has less above than below" } }

local cluster = sim.cluster {
  node = "dgx-a100", gpus = 32,
  fabric = sim.fat_tree { link = "roce-200", nodes_per_leaf = 1, oversubscription = opt.narrower },
}
local function step(fidelity, transport)
  return sim.study {
    title = transport and fidelity .. ", " .. transport or fidelity, on = cluster,
    run = sim.training {
      model = "gpt2-355m", seq_len = 1024, batch = { micro = 4, global = 128 }, zero = 1,
      fidelity = fidelity, transport = transport,
    },
  }
end
return { step "flow", step("packet", "dcqcn"), step("packet", "hpcc") }
