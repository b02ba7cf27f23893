local sim=require"lockstep" local links,nodes={},{} for i=1,2001 do links[i]={from="a"..i,to="b"..i,bandwidth="1 GB/s"} nodes[i]={switch="a"..i,count=1000000} end
return sim.study{on=sim.cluster{node="dgx-a100",gpus=16,fabric=sim.fabric{kind="graph",link="ib-ndr400",links=links,nodes=nodes}},run=sim.training{model="gpt2-small",seq_len=128,batch={micro=1}}}
