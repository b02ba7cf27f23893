-- spraying.lua: each of 128 hosts sends to one on the next leaf. One way a flow by hash, against a way a packet.
local sim = require "lockstep"

local function permutation(routing)
  return sim.packets { pattern = "permutation", hosts = 128, hosts_per_leaf = 8, size = "2 MB", routing = routing,
    transport = "ndp", title = "Ways chosen by " .. routing }
end
return { permutation "ecmp", permutation "spray" }
