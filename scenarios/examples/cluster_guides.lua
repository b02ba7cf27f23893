-- cluster_guides.lua: what two guides to building GPU clusters say, put to the test.
--
-- Claims: GPT-3 175B takes years on one GPU and weeks on 1,024 A100; in a pipeline of 4 GPUs and 4 batches, GPU k starts
-- batch b at step k + b - 1; prefer data parallelism when the model fits, use few pipeline stages, larger batches
-- shrink the bubble; 10 GbE is the least for several nodes, 100 GbE or InfiniBand for large synchronous training.
local sim = require "lockstep"
local source = "guides to building GPU clusters"

-- GPT-3 175B, 300 billion tokens, on 1,024 A100.
local gpt3 = sim.simulate {
  on = sim.cluster { node = "dgx-a100", gpus = 1024, fabric = sim.rail_fat_tree { link = "ib-hdr200" } },
  run = sim.training { model = "gpt3-175b", seq_len = 2048, tokens = "300B", batch = { global = 1536, micro = 1 },
    parallel = { tp = 8, pp = 16, sequence_parallel = false }, precision = "fp16", framework = "megatron", attention = "plain", recompute = "full" },
}

-- Pipeline of 4 stages by hand: every forward takes one time unit of 1 s, messages cost almost nothing.
local four = sim.cluster { node = "dgx-station-a100", gpus = 4 }
local function pipeline(batches)
  return sim.program { on = four, title = "Pipeline of 4 GPUs, " .. batches .. " batches",
    rank = function(r)
      for b = 1, batches do
        if r.id > 0 then r:recv { from = r.id - 1, tag = b } end
        r:compute { seconds = 1, name = "batch " .. b }
        if r.id < r.world - 1 then r:send { to = r.id + 1, bytes = 8, tag = b } end
      end
    end }
end
local steps4, steps16 = sim.simulate(pipeline(4)).step_time, sim.simulate(pipeline(16)).step_time

-- Data parallel against layer-wise and pipeline on the same 4 GPUs.
local function on_four(strategy, parallel, batch)
  return sim.simulate { on = four, run = sim.training { model = "resnet-50", strategy = strategy, parallel = parallel,
    batch = batch, precision = "fp16", framework = "eager" } }.samples_per_s
end
local ddp = on_four("ddp", nil, { global = 256, micro = 64 })
local layers = on_four("layers", nil, { global = 256, micro = 256 })
local pipe = on_four("ddp", { pp = 4 }, { global = 256, micro = 32 })

-- What the wire does to 4 nodes of 8 A100 on ResNet-50.
local wires = {}
for _, link in ipairs { "eth-1g", "eth-10g", "eth-100g", "ib-hdr200" } do
  wires[link] = sim.simulate { on = sim.cluster { node = "dgx-a100", gpus = 32, fabric = sim.single_switch { link = link } },
    run = sim.training { model = "resnet-50", batch = { micro = 64 }, precision = "fp16", framework = "eager" } }.efficiency
end

return {
  sim.report { title = "What two guides say, simulated",
    rows = {
      { name = "GPT-3 175B on 1,024 A100 (guides: \"weeks\")", published = 28, simulated = gpt3.days, unit = "days", source = source },
      { name = "4 stages, 4 batches: last batch leaves after", published = 7, simulated = steps4, unit = "steps", source = "p + m - 1" },
      { name = "4 stages, 4 batches: bubble", published = 3 / 7, simulated = 1 - 4 / steps4, unit = "", source = "(p - 1) / (m + p - 1)" },
      { name = "4 stages, 16 batches: bubble", published = 3 / 19, simulated = 1 - 16 / steps16, unit = "", source = "(p - 1) / (m + p - 1)" },
    },
    notes = {
      string.format("on one A100 the same run would take %.0f years, if it fitted", gpt3.days * 1024 / 365),
      string.format("data parallel first: 4 A100 train ResNet-50 at %.0f images/s with DDP, %.0f as a pipeline, %.0f layer by layer", ddp, pipe, layers),
      string.format("efficiency of 4 nodes of 8 A100 on ResNet-50: %.0f %% over 1 GbE, %.0f %% over 10 GbE, %.0f %% over 100 GbE, %.0f %% over InfiniBand HDR",
        100 * wires["eth-1g"], 100 * wires["eth-10g"], 100 * wires["eth-100g"], 100 * wires["ib-hdr200"]),
    } },
  pipeline(4),
}
