-- shared_cluster.lua: a laboratory's 256 GPUs. How long do jobs wait under which policy, what does an oversubscribed
-- network cost those that are spread over it, and how many GPUs would keep the wait below an hour?
local sim = require "lockstep"

local opt = sim.options {
  gpus = { default = 256, min = 64, help = "GPUs in the cluster" },
  load = { default = 0.85, min = 0.01, max = 2, help = "work that comes over what all GPUs can do" },
  over = { default = 4, min = 1, help = "oversubscription of the leaf switches" },
}

local cluster = sim.cluster {
  node = "dgx-a100", gpus = opt.gpus,
  fabric = sim.fat_tree { link = "ib-hdr200", nodes_per_leaf = 4, oversubscription = opt.over },
  faults = { node_mtbf = "250 d", repair = "8 h" },
}

-- What a job does in a step; replicas fill whatever GPUs it is given.
local job = sim.training { model = "gpt2-1.5b", batch = { micro = 1 }, zero = 1 }

-- Most jobs are small, most GPU time goes to large ones; users overestimate.
local function demand(rate)
  rate.count, rate.users, rate.urgent_share, rate.estimate_error = 5000, 12, 0.1, 2
  rate.sizes, rate.durations = "1:0.5,2:0.15,4:0.1,8:0.15,16:0.06,32:0.04", "lognormal:20min:3h"
  return rate
end

return {
  sim.queue { on = cluster, run = job, demand = demand { load = opt.load }, seeds = 3, checkpoint_every = "1 h",
    title = "Policies, jobs packed on as few leaf switches as possible" },
  sim.queue { on = cluster, run = job, demand = demand { load = opt.load }, seeds = 3, checkpoint_every = "1 h",
    policy = { "easy" }, placement = "scatter", title = "Jobs scattered over any free GPUs" },
  sim.queue { on = cluster, demand = demand { per_hour = 14 }, seeds = 3, policy = { "fifo", "easy" },
    goal = { wait_p95 = "1 h" }, title = "How many GPUs for 14 jobs an hour, 95 % of which wait an hour at most" },
}
