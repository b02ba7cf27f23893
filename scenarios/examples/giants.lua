-- giants.lua: published training runs on 256 to 16,384 GPUs, predicted with nothing fitted to them.
-- The papers state model, layout, batch and speed; what they do not state (versions of kernels, fabrics in detail) is as
-- usual for the framework and the date. All of them ran; of some, memory is estimated to be at the limit.
local sim = require "lockstep"

local function study(title, cluster, job, seconds, source)
  return sim.study { title = title, on = cluster, run = sim.training(job),
    published = { { step_time = string.format("%.17g s", seconds), source = source } } }
end

-- Llama Team 2024 (arXiv:2407.21783), table 4: TFLOP/s of each GPU, bf16, tokens of a step.
-- 128 chunks of a layer each, the first with the embedding alone and the last with the head alone (section 3.3.2).
-- Operations as the paper counts them: 6 a weight and token, attention over half the square.
local function llama(gpus, parallel, seq_len, sequences, tflops)
  local tokens = seq_len * sequences
  local layers = {}
  for chunk = 1, 128 do layers[chunk] = (chunk == 1 or chunk == 128) and 0 or 1 end
  parallel.layers, parallel.sequence_parallel = layers, true
  local operations = tokens * (6 * 405e9 + 6 * 126 * 16384 * seq_len)
  return study("Llama 3 405B on " .. gpus .. " H100, " .. seq_len .. " tokens a sequence",
    sim.cluster { node = "dgx-h100", gpus = gpus, fabric = sim.rail_fat_tree { link = "roce-400" } },
    { model = "llama-3.1-405b", seq_len = seq_len, batch = { global = sequences, micro = 1 }, parallel = parallel,
      zero = 1, precision = "bf16", framework = "megatron", attention = "flash", optimizer = "adam" },
    operations / (gpus * tflops * 1e12), "Llama Team 2024, table 4: " .. tflops .. " TFLOP/s")
end

-- Smith et al. 2022 (arXiv:2201.11990), section 2.4: seconds of an iteration on 280, 350 and 420 DGX A100 of Selene.
local function mt_nlg(nodes, seconds)
  return study("Megatron-Turing NLG 530B on " .. nodes * 8 .. " A100",
    sim.cluster { node = "dgx-a100", gpus = nodes * 8, fabric = sim.rail_fat_tree { link = "ib-hdr200" } },
    { model = "megatron-530b",
      seq_len = 2048, batch = { global = 1920, micro = 1 }, parallel = { tp = 8, pp = 35, sequence_parallel = false }, precision = "bf16",
      framework = "megatron", attention = "plain", recompute = "full", optimizer = "adam" },
    seconds, "Smith et al. 2022, section 2.4")
end

-- DeepSeek-AI 2024 (arXiv:2412.19437), section 1: 180,000 H800 hours for 10^12 tokens; section 3: PP 16, EP 64, ZeRO 1,
-- DualPipe, FP8, latent attention's products up, the norms and the experts' activation computed again. What goes into
-- a product is kept in 8 bits, as they do; they keep the experts' gates so too (section 3.3.3), here they have 16.
local function deepseek()
  local tokens = 15360 * 4096
  return study("DeepSeek-V3 671B on 2048 H800",
    sim.cluster { node = "hgx-h800-8", gpus = 2048, fabric = sim.rail_fat_tree { link = "ib-ndr400" } },
    { model = "deepseek-v3", seq_len = 4096, batch = { global = 15360, micro = 1 }, precision = "fp8", zero = 1,
      parallel = { pp = 16, ep = 64 }, schedule = "dualpipe", framework = "megatron", attention = "flash",
      fused_dispatch = true, recompute = "selective", recompute_modules = { "mla_up_proj", "layernorm", "moe_act" },
      optimizer = "adam" },
    180000 * 3600 / 2048 * tokens / 1e12, "DeepSeek-AI 2024, section 1: 180,000 GPU hours for 1T tokens")
end

return {
  llama(8192, { tp = 8, pp = 16, vpp = 8 }, 8192, 2048, 430),
  llama(16384, { tp = 8, pp = 16, vpp = 8 }, 8192, 2048, 400),
  llama(16384, { tp = 8, cp = 16, pp = 16, vpp = 8 }, 131072, 128, 380),
  mt_nlg(280, 60.1), mt_nlg(350, 50.2), mt_nlg(420, 44.4),
  deepseek(),
}
