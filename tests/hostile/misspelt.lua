local sim=require"lockstep" local n=0
for i=1,50000 do pcall(function() n=n+sim.clustr end) end
for i=1,10000 do pcall(sim.cluster,{nod="dgx-a100"}) end
for i=1,10000 do pcall(sim.training,{modle="gpt2-small"}) end
