local sim = require "lockstep"
local cluster = sim.cluster {
  node = "dgx-h10O",
  gpus = -3,
  fabirc = "ib-ndr400",
  price = {
    gpu_hour = 0/0,
    curency = "USD",
  },
  nodes = {
    { node = "dgx-a100", gpus = 8 },
    { node = "dgx-a100",
      gpus = "many" },
  },
}
local job = sim.training { model = "gpt3-175",
  batch = { global = 1.5 },
  parallel = { tp = "two" },
  precision = "bf17",
  bucket = "25 M",
  data = { workers = 3 } }
return sim.study { on = cluster, run = job, vary = { gpus = { 1, 2, 0 } } }
