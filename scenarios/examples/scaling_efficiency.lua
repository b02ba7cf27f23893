-- scaling_efficiency.lua: a textbook's scaling table and price list, 1 to 512 GPUs.
--
-- The page gives 100 samples/s on one GPU, 700 on 8 (87.5 %), 4,000 on 64 (62.5 %), 32 samples per GPU, and draws nodes
-- of 8 A100 joined by 100 Gb/s Ethernet that it counts as 12 GB/s: one NIC a node, with RDMA. It names no model
-- and no software: BERT-large with sequences of 512 tokens, the nearest well-known job to 100 samples/s on an A100,
-- stands in, run by NVIDIA's example of it for PyTorch of those days. Nothing here is fitted to the page.
local sim = require "lockstep"

local opt = sim.options {
  model    = { default = "bert-large", help = "model (see: lockstep model list)" },
  batch    = { default = 32, min = 1, help = "sequences per GPU and step" },
  nics     = { default = 1, min = 1, max = 64, help = "NICs of a node on that network" },
  fabric   = { default = "roce-100", help = "network between nodes (see: lockstep hw list fabric)" },
  software = { default = "deeplearningexamples pytorch 20.06", help = "what runs it (see: lockstep job software)" },
  most     = { default = 512, min = 1, max = 65536, help = "GPUs of the largest cluster" },
}

local function cluster(gpus, fabric)
  return sim.cluster {
    node = "dgx-a100-40gb", gpus = gpus,
    fabric = sim.single_switch { link = fabric }, nics = opt.nics,
    price = { book = "textbook-a100" },                    -- the page: "1 x A100-40 about $3/h"
  }
end

local job = sim.training {
  model = opt.model, seq_len = 512,
  batch = { micro = opt.batch },
  precision = "fp16", optimizer = "adam", software = opt.software,
}

local one = sim.simulate { on = cluster(1, opt.fabric), run = job }
local sockets = sim.simulate { on = cluster(64, "eth-100g"), run = job }

-- The page's table of costs: so many GPUs by the month, on demand, at its monthly price, reserved, on the spot market.
local function a_month(gpus)
  local amounts = {}
  for i, book in ipairs { "textbook-a100", "textbook-a100-month", "textbook-a100-1y", "textbook-a100-spot" } do
    amounts[i] = sim.cost { on = sim.cluster { node = "dgx-a100-40gb", gpus = gpus, fabric = sim.single_switch { link = opt.fabric },
      price = { book = book } } }.per_month
  end
  return string.format("a month of %d GPU%s: $%.0f on demand, $%.0f by the month, $%.0f reserved for a year, $%.0f spot (interrupted)",
    gpus, gpus > 1 and "s" or "", amounts[1], amounts[2], amounts[3], amounts[4])
end

return sim.study {
  title = "Scaling efficiency, 1 to " .. opt.most .. " GPUs",
  on = cluster(1, opt.fabric), run = job,
  assume_fits = true,                                      -- the page measured it: it fitted
  vary = { gpus = sim.geometric(1, opt.most, 2) },
  plot = { "scaling" },
  published = opt.most >= 64 and {
    { gpus = 1,  samples_per_s = 100,  source = "textbook page on GPU clusters" },
    { gpus = 8,  samples_per_s = 700,  source = "textbook page on GPU clusters" },
    { gpus = 64, samples_per_s = 4000, source = "textbook page on GPU clusters" },
    { gpus = 8,  efficiency = 0.875,   source = "textbook page on GPU clusters" },
    { gpus = 64, efficiency = 0.625,   source = "textbook page on GPU clusters" },
    { gpus = 1,  cost_per_hour = 3,    source = "textbook page on GPU clusters" },
    { gpus = 8,  cost_per_hour = 25,   source = "textbook page on GPU clusters" },
    { gpus = 64, cost_per_hour = 200,  source = "textbook page on GPU clusters" },
    { gpus = 1,  cost_per_month = 2200,   source = "textbook page on GPU clusters" },
    { gpus = 8,  cost_per_month = 18000,  source = "textbook page on GPU clusters" },
    { gpus = 64, cost_per_month = 144000, source = "textbook page on GPU clusters" },
  } or nil,
  notes = {
    "the page names no model; BERT-large, 512 tokens, stands in. Its 8-GPU figure (87.5 %) is below what NVLink gives.",
    string.format("the same 100 Gb/s with TCP sockets, as NCCL sets them up by itself: %.1f %% on 64 GPUs",
      100 * one.step_time / sockets.step_time),
    a_month(1), a_month(8), a_month(64), a_month(512),
  },
}
