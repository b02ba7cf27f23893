local sim = require "lockstep"
local cluster = sim.cluster {
  node = "dgx-h100", gpus = 128, fabric = sim.rail_fat_tree { link = "ib-ndr400" }, power_cap = "600 W", grid = "france",
  price = { provider = "runpod", terms = "on_demand", currency = "EUR" },
  own = { site = "enterprise", years = 4, interest = 0.05, utilisation = "70 %", node_price = 300000, currency = "EUR" },
}
local cost = sim.cost { on = cluster, time = "30 d" }
local job = sim.training { model = "gpt3-6.7b", tokens = "100B", batch = { micro = 1 }, zero = 1 }
job:expect { carbon = "< 1e9", power = "< 1e7" }
return sim.study { on = cluster, run = job, vary = { power_cap = { "400 W", "700 W" } },
  notes = { string.format("%.0f %s an hour, %.0f to buy", cost.per_hour, cost.currency, cost.capital) } }
