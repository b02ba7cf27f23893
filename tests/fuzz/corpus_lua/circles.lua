local t = {} t.t = t
local sim = require "lockstep"
sim.cluster(t)
sim.study { vary = t, published = { t }, on = t }
clutser = 5
function foo() newglobal = 3 end
foo()
