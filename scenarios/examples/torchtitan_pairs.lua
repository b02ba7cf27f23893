-- torchtitan_pairs.lua: measured runs of PyTorch's torchtitan that differ in one thing. No constant belongs to one of them;
-- those of a type of GPU were set with runs like these in sight.
-- What made the difference:  lockstep diff torchtitan_pairs.lua --study-a 1 --study-b 2
-- Measured: github.com/pytorch/torchtitan, folder benchmarks: llama3_h100_202412_torchtitan.md and
-- asyncTP_llama3_h100_2025-06_torchtitan.md. A step's seconds are its tokens by the tokens per second printed there.
-- H100 of 96 GB HBM2e held at 500 W, 400 Gb/s a GPU.
local sim = require "lockstep"

local function study(title, table, seconds, model, gpus, job)
  local cluster = sim.cluster {
    nodes = { { node = "dgx-h100", gpu = "H100-SXM-96GB-HBM2e-500W", gpus = gpus } },
    fabric = sim.rail_fat_tree { link = "roce-400" },
  }
  job.model, job.seq_len, job.zero, job.optimizer = model, 8192, 3, "adam"
  local published = seconds and { { step_time = seconds .. " s", source = "torchtitan, " .. table } } or nil
  return sim.study { title = title, on = cluster, run = sim.training(job), published = published, assume_fits = true }
end

local function fsdp(title, seconds, software, precision)
  return study(title, "llama3_h100_202412.md, table 3", seconds, "llama-3-8b", 128, {
    software = software, precision = precision, fp8_recipe = precision == "fp8" and "tensorwise" or nil,
    batch = { micro = 2, global = 256 }, recompute = "operations",
  })
end

local function tensor_parallel(title, table, seconds, model, gpus, batch, recompute, overlap)
  return study(title, table, seconds, model, gpus, {
    software = "torchtitan compiled 2024-12", precision = "fp8", fp8_recipe = "tensorwise",
    parallel = { tp = 8, sequence_parallel = true }, batch = batch, recompute = recompute, overlap = { tp = overlap },
  })
end

-- How many micro-batches a step has is not said: one sequence each, the most that 32 a replica give. Table 5 has the time
-- of the interleaved schedule, and of both the memory of the fullest rank: 82.5 and 72.7 GiB.
local function pipeline(title, seconds, vpp)
  return study(title, "llama3_h100_202412.md, table 5", seconds, "llama-3.1-405b", 512, {
    software = "torchtitan compiled 2024-12", precision = "fp8", fp8_recipe = "tensorwise",
    parallel = { tp = 8, pp = 8, vpp = vpp, sequence_parallel = true }, batch = { micro = 1, global = 256 },
    recompute = "full", overlap = { tp = true },
  })
end

local tp_8b, tp_70b = "asyncTP_llama3_h100_2025-06.md", "llama3_h100_202412.md, table 4"
local few, many = { micro = 12, global = 96 }, { micro = 16, global = 512 }

return {
  fsdp("Llama 3 8B, eager", 2.9231, "torchtitan 2024-12", "bf16"),
  fsdp("Llama 3 8B, compiled", 2.5152, "torchtitan compiled 2024-12", "bf16"),
  fsdp("Llama 3 8B, compiled, float8", 1.9551, "torchtitan compiled 2024-12", "fp8"),
  tensor_parallel("Llama 3 8B, TP waited for", tp_8b, 2.4198, "llama-3-8b", 64, few, "operations", false),
  tensor_parallel("Llama 3 8B, TP overlapped", tp_8b, 2.20606, "llama-3-8b", 64, few, "operations", true),
  tensor_parallel("Llama 3 70B, TP waited for", tp_70b, 19.7636, "llama-3-70b", 256, many, "full", false),
  tensor_parallel("Llama 3 70B, TP overlapped", tp_70b, 18.7032, "llama-3-70b", 256, many, "full", true),
  pipeline("Llama 3.1 405B, 1F1B", nil, 1),
  pipeline("Llama 3.1 405B, interleaved", 32, 2),
}
