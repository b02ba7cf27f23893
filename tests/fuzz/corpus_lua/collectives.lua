local sim = require "lockstep"
return sim.program { on = sim.cluster { node = "dgx-a100", gpus = 8, storage = "nfs-1gbe" }, steps = 2, rank = function(r)
  local pair = sim.group { r.id - r.id % 2, r.id - r.id % 2 + 1 }
  r:compute { gemm = { m = 128, n = 256, k = 512, batch = 2 }, precision = "fp16", name = "g" }
  r:broadcast { bytes = "1 MiB", root = 0 } r:reduce { bytes = 8, root = 1 } r:gather { bytes = 8, root = 2 }
  r:reduce_scatter { group = pair, bytes = "1 kB", stream = "tp" } r:all_to_all { bytes = "2 MB" } r:barrier()
  local s = r:stream "io" s:read { bytes = "1 MB" } s:record "data" r:wait "data" r:copy { to = "device", bytes = 1e6 }
end }
