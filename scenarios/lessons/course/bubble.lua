local say = ...
return {
  title = "The pipeline's bubble",
  question = "GPT-3 of 6.7 billion in $stages stages, one on each GPU, $batches micro-batches a step. The last stage has nothing to do until the first "
    .. "micro-batch arrives, and at the end the first waits for the last gradients.",
  ask = "What percentage of a step do GPUs wait in the pipeline?",
  task = "Bring it to at most 30 % without another schedule.",
  numbers = { stages = { 8 }, batches = { 6, 7, 8, 9, 10 } },
  settings = {
    { "batches", nil, "micro-batches of a step", 1, 256 },
    { "schedule", "1f1b", "order of micro-batches: gpipe, 1f1b", of = { "gpipe", "1f1b" } },
    { "stages", nil, "stages, a GPU each" },
  },
  change = { "batches", "schedule" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = set.stages },
  run = sim.training { model = "gpt3-6.7b", seq_len = 2048, parallel = { pp = set.stages }, schedule = set.schedule,
                       batch = { micro = 1, accumulation = set.batches } },
}]],
  guess = { unit = "%", most = 100, within = 0.2, answer = function(old) return 100 * say.share(old, "pp") end },
  goal = function(new)
    return say.most("Of a step they wait for", say.percent, say.share(new, "pp"), 0.3)
  end,
  hints = {
    "Draw it: stages as rows, time to the right, a box for each micro-batch. Count empty boxes.",
    "p - 1 boxes are empty in each row beside m full ones: (p - 1) / (m + p - 1). Uneven stages wait on top: the last one has the head.",
    "batches = 64.",
  },
  notice = function(new, old, n)
    local ideal = (n.stages - 1) / (n.batches + n.stages - 1)
    return ("The formula says %s for $batches micro-batches, the simulation %s: stages are not quite even. With more micro-batches they wait for %s."):format(
      say.percent(ideal), say.percent(say.share(old, "pp")), say.percent(say.share(new, "pp")))
  end,
  formula = "bubble = (p - 1) / (m + p - 1). Limits: even stages and no time for messages; m is bounded by the global batch.",
  measured = { "training-accuracy", "megatron-sc21-weak", "pipelined runs of Megatron" },
  solution = { batches = 64 },
  right = { { change = { batches = 36 } } },
  wrong = {
    { guess = function(old, n) return 100 / n.stages end, why = "One part in p is a single stage's share. All but one wait at the start, and at the end." },
    { guess = 5, why = "That takes some 140 micro-batches." },
    { change = { schedule = "gpipe" }, why = "All forward, then all backward: the same bubble, more memory." },
    { change = { batches = 12 }, why = "Smaller, but 7 / (12 + 7) is more than 30 %." },
  },
}
