local say = ...
return {
  title = "Smaller stages, more rounds",
  question = "GPT-3 of 6.7 billion in eight stages, a GPU each, and $batches micro-batches, which the global batch does not let grow. Each GPU holds four layers in "
    .. "a row. It could hold two pieces of two layers, or four of one, from different places of the model.",
  ask = "With four pieces on each GPU, what percentage of a step does it wait?",
  task = "Bring the step to at most 0.85 of its time; micro-batches stay.",
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
    "The pipeline fills as soon as the first piece has reached the last GPU. How long does a piece take?",
    "With v pieces a box is a v-th as long, so the empty ones are too: (p - 1) / v boxes. Messages come v times as often.",
    "pieces = 4.",
  },
  notice = function(new, old)
    return ("They waited for %s of a step, and wait for %s. Memory: %s, now %s, for more micro-batches are under way."):format(
      say.percent(say.share(old, "pp")), say.percent(say.share(new, "pp")), say.bytes(old.memory), say.bytes(new.memory))
  end,
  formula = "bubble = (p - 1) / v of m + (p - 1) / v. Limits: v times the messages; layers must divide by p x v; micro-batches by p.",
  measured = { "training-accuracy", "megatron-sc21-weak", "pipelines of Megatron, interleaved for large models" },
  solution = { pieces = 4 },
  right = { { change = { pieces = 4, recompute = "selective" } } },
  wrong = {
    { guess = function(old) return 100 * say.share(old, "pp") end, why = "That is with one piece." },
    { guess = 2, why = "A quarter of the empty boxes are left, and uneven stages." },
    { change = { recompute = "full" }, why = "That saves memory, and adds work." },
  },
}
