local say = ...
return {
  title = "A batch fills the GPU",
  question = "GPT-2 (124 M) on one $gpu, one sequence of $tokens tokens at a time. The optimizer's step, every launch and reading "
    .. "the weights cost the same for one sequence as for many.",
  ask = "How many times as long does a step of eight sequences take as a step of one?",
  task = "Train at least 2.5 times as many tokens a second. Only the batch may change.",
  numbers = { gpu = { "A100", "H100" }, tokens = { 512, 768, 1024 } },
  settings = {
    { "micro", 1, "sequences at a time", 1, 4096 },
    { "gpu", nil, "the GPU" },
    { "tokens", nil, "tokens of a sequence" },
  },
  change = { "micro" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = set.gpu == "A100" and "dgx-a100" or "dgx-h100", gpus = 1 },
  run = sim.training { model = "gpt2-124m", seq_len = set.tokens, framework = "eager", batch = { micro = set.micro } },
}]],
  guess = { unit = "times", within = 0.25, answer = function(old, n, run) return run { micro = 8 }.step_time / old.step_time end },
  goal = function(new, old) return say.more(new, old, 2.5, "tokens_per_s") end,
  hints = {
    "Part of a step does not depend on the batch. What part, and how large?",
    "step = fixed + micro x per sequence. With one sequence, fixed is most of it.",
    "micro = 32, or what memory holds.",
  },
  notice = function(new, old)
    return ("%s tokens a second, %s now. MFU went from %s to %s. Beyond some batch the arithmetic is all of the step, and more brings nothing: %s of memory are taken."):format(
      say.whole(old.tokens_per_s), say.whole(new.tokens_per_s), say.percent(old.mfu), say.percent(new.mfu), say.bytes(new.memory))
  end,
  formula = "tokens/s = micro x tokens / (fixed + micro x t). Limits: memory; and a larger batch is another training (track 7).",
  measured = { "training-accuracy", "own-steps", "steps of PyTorch on one H100, from 1 to 256 samples" },
  solution = { micro = 32 },
  wrong = {
    { guess = 8, why = "That is if nothing were fixed: then a batch would bring nothing." },
    { guess = 1, why = "That is if all were fixed." },
    { change = { micro = 2 }, why = "Twice the tokens in a little more time: right direction, not far enough." },
    { change = { micro = 4096 }, why = "So many activations do not fit." },
  },
}
