-- megatron_22b_175b.lua: four measured Megatron runs on DGX A100, predicted with nothing fitted to them.
-- Measured: Korthikanti et al. 2022 (arXiv:2205.05198), table 5; layouts from the same paper.
local sim = require "lockstep"

local function run(title, gpus, model, parallel, batch, recompute, seconds)
  local cluster = sim.cluster { node = "dgx-a100", gpus = gpus, fabric = sim.rail_fat_tree { link = "ib-hdr200" } }
  local job = sim.training {
    model = model, seq_len = 2048, batch = batch, parallel = parallel,
    precision = "fp16", framework = "megatron", attention = "plain", recompute = recompute, optimizer = "adam",
    overlap = { grad_reduce = false },
  }
  return sim.study { title = title, on = cluster, run = job,
    published = { { step_time = seconds .. " s", source = "Korthikanti et al. 2022, table 5" } } }
end

return {
  run("GPT 22B on 8 A100, full recompute", 8, "megatron-22b", { tp = 8, sequence_parallel = false }, { global = 4, micro = 4 }, "full", 1.42),
  run("GPT 22B on 8 A100, selective recompute and sequence parallel", 8, "megatron-22b",
      { tp = 8, sequence_parallel = true }, { global = 4, micro = 4 }, "selective", 1.10),
  run("GPT-3 175B on 64 A100, full recompute", 64, "gpt3-175b", { tp = 8, pp = 8, vpp = 3, sequence_parallel = false },
      { global = 64, micro = 1 }, "full", 18.13),
  run("GPT-3 175B on 64 A100, selective recompute and sequence parallel", 64, "gpt3-175b",
      { tp = 8, pp = 8, vpp = 3, sequence_parallel = true }, { global = 64, micro = 1 }, "selective", 13.75),
}
