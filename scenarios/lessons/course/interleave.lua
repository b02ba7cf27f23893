local say = ...
return {
  title = "Smaller stages, more rounds",
  question = "GPT-3 with 6.7 billion parameters has 32 layers. Eight GPUs form a pipeline of eight stages, and each has four layers in a row. A step has "
    .. "$batches micro-batches. The last GPU waits until the first micro-batch has passed seven others, four layers each. If each GPU had four "
    .. "pieces of one layer, from four places of the model, it would wait for seven layers only. But the last GPU has the head too, which takes "
    .. "as long as one more layer, and all wait for it in every micro-batch.",
  ask = "With four pieces on each GPU: what percentage of a step does a GPU wait in the pipeline?",
  task = "Bring the step to at most 0.85 of its time. The number of micro-batches stays.",
  numbers = { batches = { 8, 16 }, tokens = { 1024, 2048 } },
  settings = {
    { "pieces", 1, "of the model on each GPU: 1, 2 or 4", of = { 1, 2, 4 } },
    { "recompute", "none", "none, selective, full" },
    { "batches", nil, "micro-batches of a step" },
    { "tokens", nil, "tokens of a sequence" },
  },
  change = { "pieces", "recompute" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = 8 },
  run = sim.training { model = "gpt3-6.7b", seq_len = set.tokens, schedule = set.pieces > 1 and "interleaved" or "1f1b",
                       parallel = { pp = 8, vpp = set.pieces > 1 and set.pieces or nil }, recompute = set.recompute,
                       batch = { micro = 1, accumulation = set.batches } },
}]],
  guess = { unit = "%", most = 100, within = 0.3, answer = function(old, n, run) return 100 * say.share(run { pieces = 4 }, "pp") end },
  goal = function(new, old) return say.quicker(new, old, 0.85) end,
  hints = {
    "Count in layers. All GPUs work as soon as the first micro-batch has reached the last one. With smaller pieces it is there earlier.",
    "Four pieces: a step is 7 layers until the pipeline is full, then 5 layers for each micro-batch, the head being one. A GPU works for 4 of these 5.",
    "pieces = 4.",
  },
  notice = function(new, old)
    return ("GPUs waited for %s of a step, and wait for %s now. Memory was %s and is %s: more micro-batches are under way at once. What is left is mostly waiting for the head."):format(
      say.percent(say.share(old, "pp")), say.percent(say.share(new, "pp")), say.bytes(old.memory), say.bytes(new.memory))
  end,
  formula = "share of waiting = w / (m + w), with w = (p - 1) / v: p stages, v pieces on each GPU, m micro-batches. Limits: stages of equal length, here the head makes one longer; v times as many messages; layers must divide by p x v, micro-batches by p.",
  measured = { "training-accuracy", "megatron-sc21-weak", "pipelines of Megatron, interleaved for large models" },
  solution = { pieces = 4 },
  right = {
    { guess = function(old, n) return 100 * (7 + n.batches) / (7 + 5 * n.batches) end },
    { change = { pieces = 4, recompute = "selective" } },
  },
  wrong = {
    { guess = function(old) return 100 * say.share(old, "pp") end, why = "That is with one piece." },
    { guess = function(old, n) return 100 * 7 / 4 / (n.batches + 7 / 4) end, why = "That is right for stages of equal length. The last GPU has the head too: one more layer for each micro-batch, and all wait for it." },
    { guess = 2, why = "A quarter of the waiting for the pipeline is left, and the waiting for the head." },
    { change = { recompute = "full" }, why = "That saves memory, and adds work." },
  },
}
