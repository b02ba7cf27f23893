-- victim.lua: eight hosts send to host 8. Host 0 sends to host 9 as well, whose cable is free, and yet waits where a
-- pause holds all that host 0 sends: the last row (-v) is the victim. With --transport ndp nothing pauses.
local sim = require "lockstep"
local opt = sim.options { transport = { default = "dcqcn", help = "of all senders" } }

local flows = {}
for host = 0, 7 do flows[#flows + 1] = { from = host, to = 8 } end
flows[#flows + 1] = { from = 0, to = 9, bytes = "100 kB", start = "20 us" }
return sim.packets { flows = flows, hosts = 10, transport = opt.transport, buffer = "1 MB",
  title = "A victim under " .. opt.transport }
