local sim=require"lockstep" local t={} for i=1,2e5 do t["k"..i]=i end sim.training(t)
local sim=require "lockstep"
return sim.study{on=sim.cluster{node="dgx-a100",gpus=8},run=sim.training{model="gpt2-small",seq_len=128,batch={micro=1}}}
