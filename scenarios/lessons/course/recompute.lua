local say = ...
return {
  title = "Compute it again",
  question = "GPT-3 of 2.7 billion on one A100, $micro sequence(s) at a time. Instead of keeping what forward computes, a layer can keep "
    .. "its input alone, and compute the rest again when backward needs it.",
  ask = "How many percent longer is a step then?",
  task = "Bring memory to at most 60 GiB with a step at most 1.4 times as long.",
  numbers = { micro = { 4 }, tokens = { 1792, 1920, 2048 } },
  settings = {
    { "recompute", "none", "none, selective (attention's inside alone), full (all of each layer)" },
    { "micro", nil, "sequences at a time" },
    { "tokens", nil, "tokens of a sequence" },
  },
  change = { "recompute" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = 1 },
  run = sim.training { model = "gpt3-2.7b", seq_len = set.tokens, recompute = set.recompute, batch = { micro = set.micro } },
}]],
  guess = { unit = "%", within = 0.3, answer = function(old, n, run) return 100 * (run { recompute = "full" }.step_time / old.step_time - 1) end },
  goal = function(new, old)
    local fits = say.smaller(new, 60 * 2 ^ 30)
    return fits ~= true and fits or say.quicker(new, old, 1.4)
  end,
  hints = {
    "Backward does twice the work of forward. What is one more forward?",
    "One part in three more, less what is no layer: the head and the optimizer.",
    "recompute = \"full\".",
  },
  notice = function(new, old)
    return ("%s, now %s; a step %s, now %s. With flash attention \"selective\" saves nothing: the kernel computes its inside again anyway."):format(
      say.bytes(old.memory), say.bytes(new.memory), say.time(old.step_time), say.time(new.step_time))
  end,
  formula = "work = 4/3, kept = 2 s b h bytes a layer instead of 34. Limits: MFU counts the model's work alone and falls; HFU counts what is done twice.",
  measured = { "training-accuracy", "korthikanti-2022", "runs with full and selective recomputation" },
  solution = { recompute = "full" },
  wrong = {
    { guess = 100, why = "Forward is a third of the work, not half." },
    { guess = 5, why = "That is selective recomputation." },
    { change = { recompute = "selective" }, why = "Flash attention keeps nothing of that anyway." },
  },
}
