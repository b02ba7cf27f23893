-- C1 as UTF-8 and as bytes, ESC, signs that turn the writing direction: by print, by error, by a name and a title.
local sim=require"lockstep"
local bad="\u{9b}31m \x9b31m \x1b[31m \u{202e}x\u{2066}y\u{85}z \x80\xff"
print(bad, {}, setmetatable({}, {__tostring=function() return bad end}))
pcall(sim.training,{[bad]=1})
sim.model.get(bad)
sim.hw(bad)
sim.options{a={default=1,help=bad}}
sim.report{title=bad,rows={{name=bad,simulated=1,published=1,source=bad}}}
pcall(require,bad)
error(bad,0)
