local say = ...
return {
  title = "Llama 3 on 16,384 GPUs",
  question = "Llama 3 with 405 billion parameters was trained in pipelines of 16 stages, with 8 GPUs for each matrix (tensor parallel 8). A batch has 2,048 sequences of "
    .. "8,192 tokens, whatever the number of GPUs. Meta reports that each GPU reached 430 TFLOP/s when there were 8,192 H100, and 400 when there were 16,384.",
  ask = "In the simulation: by how many percent is MFU lower on 16,384 GPUs than on 8,192?",
  task = "Find a number of GPUs that trains with an MFU of at least 44 %.",
  numbers = { gpus = { 16384 } },
  settings = {
    { "gpus", nil, "GPUs: 4,096, 8,192 or 16,384", of = { 4096, 8192, 16384 } },
    { "schedule", "interleaved", "order of micro-batches" },
    { "fabric", "roce-400", "network" },
  },
  change = { "gpus", "fabric" },
  scenario = [[
local sim = require "lockstep"
local layers = {}
for chunk = 1, 128 do layers[chunk] = (chunk == 1 or chunk == 128) and 0 or 1 end
return sim.study {
  on = sim.cluster { node = "dgx-h100", gpus = set.gpus, fabric = sim.rail_fat_tree { link = set.fabric } },
  run = sim.training { model = "llama-3.1-405b", seq_len = 8192, batch = { global = 2048, micro = 1 }, zero = 1, precision = "bf16",
    parallel = { tp = 8, pp = 16, vpp = 8, layers = layers, sequence_parallel = true }, schedule = set.schedule,
    framework = "megatron", attention = "flash", optimizer = "adam" },
}]],
  guess = {
    unit = "%", most = 100, within = 0.4,
    answer = function(old, n, run) return 100 * (1 - old.mfu / run { gpus = 8192 }.mfu) end,
  },
  goal = function(new) return say.least("MFU is", say.percent, new.mfu, 0.44) end,
  may_not_fit = true,                              -- what to notice says so
  hints = {
    "The batch is the same. How many micro-batches does each pipeline have then?",
    "2,048 sequences over 128 replicas are 16 micro-batches, over 64 they are 32: the bubble is twice as large with more GPUs.",
    "gpus = 8192.",
  },
  notice = function(new, old, n, set)
    return ("Waiting in the pipeline takes %s with 16,384 and %s now; MFU %s and %s. With %.0f times the GPUs it was still %.2f times as quick. Meta's two "
      .. "figures are 7 %% apart. And memory: %s and %s are more than the 79.6 GiB that a GPU has, yet Meta ran them, since they free activations early, "
      .. "which is not known here. A figure of memory can be that far off."):format(
      say.percent(say.share(old, "pp")), say.percent(say.share(new, "pp")), say.percent(old.mfu), say.percent(new.mfu), n.gpus / set.gpus, new.step_time / old.step_time,
      say.bytes(old.memory), say.bytes(new.memory))
  end,
  formula = "m = batch / (replicas x micro); bubble = (p - 1) / v / m about. Limits: published figures are averages over weeks, with stragglers.",
  measured = { "training-accuracy", "megatron-core-h100-weak", "Megatron on 48 to 6,144 H100" },
  solution = { gpus = 8192 },
  wrong = {
    { guess = 50, why = "Then twice the GPUs would be no quicker at all." },
    { guess = 1, why = "Meta's own figures differ by 7 %." },
    { change = { fabric = "ib-xdr800" }, why = "They wait for stages, not for the network." },
  },
}
