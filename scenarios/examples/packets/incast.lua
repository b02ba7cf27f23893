-- incast.lua: 32 hosts answer one at the same time, as in a partition and aggregate query. Each transport by itself.
local sim = require "lockstep"
local opt = sim.options { size = { default = "500 kB", help = "of each answer" } }

local answers = {}
for _, transport in ipairs { "reno", "dctcp", "dcqcn", "swift", "ndp" } do
  answers[#answers + 1] = sim.packets {
    pattern = "incast", hosts = 33, size = opt.size, transport = transport,
    title = transport .. ": 32 hosts to one",
  }
end
return answers
