local sim = require "lockstep"
return sim.program { on = sim.cluster { node = "dgx-a100", gpus = 4 },
  rank = function(r)
    local peer = r.id ~ 1
    r:recv { from = peer, name = "swap in" }
    r:send { to = peer, bytes = "1 MiB", name = "swap out" }
  end }
