local sim = require "lockstep"
return sim.program { on = sim.cluster { node = sim.hw "dgx-a100", gpus = 4 }, steps = 3,
  rank = function(r)
    local first, last = r.id == 0, r.id == r.world - 1
    for m = 1, 4 do
      if not first then r:recv { from = r.id - 1, tag = m } end
      r:compute { flops = 2e12, bytes = 40e6, name = "F" .. m }
      if not last then r:send { to = r.id + 1, bytes = "64 MiB", tag = m } end
    end
    for m = 4, 1, -1 do
      if not last then r:recv { from = r.id + 1, tag = -m } end
      r:compute { flops = 4e12, bytes = 80e6, name = "B" .. m }
      if not first then r:send { to = r.id - 1, bytes = "64 MiB", tag = -m } end
    end
    local comm = r:stream "comm"
    r:record "done"
    comm:wait "done"
    comm:all_reduce { group = r.world_group, bytes = "4 MiB", name = "grad norm" }
    comm:record "reduced"
    r:wait "reduced"
    r:copy { to = "host", bytes = "1 GiB" }
    r:read { bytes = "1 MiB" }
  end }
