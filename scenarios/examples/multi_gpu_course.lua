-- multi_gpu_course.lua: the figures of a course on multi-GPU training.
--
-- CLIP: 400 million pairs, 592 GPUs, 18 days, "about 30 years on one household GPU". The GPT-3 family's table.
-- DataParallel (scatter, broadcast every step, gather, reduce to GPU 0) against DistributedDataParallel.
local sim = require "lockstep"
local source = "course on multi-GPU training"

local rows = {
  { name = "CLIP: 592 GPUs for 18 days, in GPU-years (course: about 30)", published = 30, simulated = 592 * 18 / 365.25, unit = "years", source = source },
}

-- Parameters from layers, width and heads alone.
local family = {
  { "gpt3-125m", 125e6 }, { "gpt3-350m", 350e6 }, { "gpt3-760m", 760e6 }, { "gpt3-1.3b", 1.3e9 },
  { "gpt3-2.7b", 2.7e9 }, { "gpt3-6.7b", 6.7e9 }, { "gpt3-13b", 13e9 }, { "gpt3-175b", 175e9 },
}
for _, entry in ipairs(family) do
  rows[#rows + 1] = { name = entry[1] .. " parameters", published = entry[2] / 1e9, simulated = sim.model.get(entry[1]).parameters / 1e9,
    unit = "billion", source = "Brown et al. 2020, table 2.1" }
end

-- The same job on one node of 8 V100 under both wrappers.
local v100 = sim.cluster { node = "dgx-1-v100", gpus = 8 }
local function speed(strategy, gpus)
  return sim.simulate { on = sim.cluster { node = "dgx-1-v100", gpus = gpus }, run = sim.training { model = "bert-large", seq_len = 128,
    strategy = strategy, batch = { micro = 8 }, precision = "fp16", framework = "eager", attention = "plain" } }.samples_per_s
end
local one, dp, ddp = speed("single", 1), speed("data-parallel", 8), speed("ddp", 8)

return sim.report { title = "A course on multi-GPU training, simulated", rows = rows, notes = {
  string.format("BERT-large on 8 V100: %.0f sequences/s on one, %.0f with DataParallel (%.0f %%), %.0f with DDP (%.0f %%)",
    one, dp, 100 * dp / (8 * one), ddp, 100 * ddp / (8 * one)),
  "the course's CLIP figure is GPU time multiplied out; its network (a ResNet-50 widened 64 times) is not in the model library",
} }
