local sim=require"lockstep" local n={} for i=1,3000 do n[i]={node="dgx-a100",gpus=1000000} end
return sim.study{on=sim.cluster{nodes=n,fabric="ib-ndr400"},run=sim.training{model="gpt2-small",seq_len=128,batch={micro=1}}}
