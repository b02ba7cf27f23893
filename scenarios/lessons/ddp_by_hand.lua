-- ddp_by_hand.lua: DistributedDataParallel in twenty lines: gradients of one layer travel while the next computes.
--
-- Question to try: with --buckets 1 nothing overlaps; with more buckets most of the traffic hides behind backward, until
-- the latency of many small messages costs more than it hides.
local sim = require "lockstep"

local opt = sim.options {
  gpus    = { default = 16, min = 2, max = 512, help = "GPUs" },
  buckets = { default = 8, min = 1, max = 128, help = "gradient buckets" },
  fabric  = { default = "roce-100", help = "network between nodes" },
}
local gradients, backward = 700e6, 0.060           -- bytes of fp16 gradients of a 350 M model; seconds of backward

return sim.program {
  title = string.format("DDP by hand: %d GPUs, %d buckets over %s", opt.gpus, opt.buckets, opt.fabric),
  on = sim.cluster { node = "dgx-a100", gpus = opt.gpus, fabric = opt.fabric },
  rank = function(r)
    local comm = r:stream "comm"
    r:compute { seconds = backward / 2, name = "forward" }
    for b = 1, opt.buckets do
      r:compute { seconds = backward / opt.buckets, name = "backward " .. b }
      r:record("ready " .. b)
      comm:wait("ready " .. b)
      comm:all_reduce { bytes = gradients / opt.buckets, name = "bucket " .. b }
    end
    comm:record "reduced"
    r:wait "reduced"
    r:compute { seconds = 0.004, name = "optimizer" }
  end,
}
