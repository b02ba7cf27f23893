local sim = require "lockstep"
return sim.program { on = sim.cluster { node = "dgx-a100", gpus = 4 },
  rank = function(r)
    if r.id == 0 then r:send { to = 1, bytes = 10, tag = 5 } end
    if r.id ~= 2 then r:all_reduce { bytes = "4 MiB" } end
    if r.id < 2 then r:broadcast { group = sim.group {0, 1}, bytes = 10 + r.id, root = 0 } end
  end }
