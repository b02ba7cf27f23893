local say = ...
return {
  title = "Larger batches want more tokens",
  question = "GPT-3 of 1.3 billion on 64 H100. With small batches 10 billion tokens reach the loss that is wanted; with a batch of B tokens it takes "
    .. "10 billion x (1 + B / $critical million) (McCandlish et al. 2018: the critical batch). Now a batch has 1,024 sequences of 2,048 tokens.",
  ask = "How many billion tokens does it take?",
  task = "Reach the loss in at most 0.7 of the time, with the same GPUs.",
  numbers = { critical = { 0.8, 0.9, 1, 1.1, 1.2 } },
  settings = {
    { "batch", 1024, "sequences of a step, of all GPUs together" },
    { "recompute", "none", "none, selective, full" },
    { "critical", nil, "million tokens of the critical batch" },
  },
  change = { "batch", "recompute" },
  scenario = [[
local sim = require "lockstep"
local tokens = 10e9 * (1 + set.batch * 2048 / (set.critical * 1e6))
return sim.study {
  on = sim.cluster { node = "dgx-h100", gpus = 64, fabric = "ib-ndr400", price = { gpu_hour = 2 } },
  run = sim.training { model = "gpt3-1.3b", seq_len = 2048, tokens = ("%.0f"):format(tokens), zero = 1, recompute = set.recompute,
                       batch = { global = set.batch } },
}]],
  guess = { unit = "billion", within = 0.1, answer = function(old) return old.tokens_per_s * old.days * 86400 / 1e9 end },
  goal = function(new, old)
    return say.most(("It took %s, and takes"):format(say.time(old.days * 86400)), say.time, new.days * 86400, 0.7 * old.days * 86400)
  end,
  hints = {
    "Two things change with the batch: tokens a second, and tokens that are needed.",
    "Throughput hardly grows once GPUs are full; what is needed grows on and on. The best batch lies where both bend, near the critical one.",
    "batch = 256.",
  },
  notice = function(new, old)
    return ("%.2f million tokens a second and %s with 1,024; %.2f and %s now. The throughput that looks best is not the training that ends first."):format(
      old.tokens_per_s / 1e6, say.time(old.days * 86400), new.tokens_per_s / 1e6, say.time(new.days * 86400))
  end,
  formula = "time = D (1 + B / Bc) / rate(B). Limits: Bc grows as the loss falls, and differs by task (lockstep plan --critical-batch).",
  measured = { "critical-batch", "gpt3", "MLPerf's runs of GPT-3 to a target loss, by batch" },
  solution = { batch = 256 },
  right = { { guess = function(old, n) return 10 * (1 + 1024 * 2048 / (n.critical * 1e6)) end }, { change = { batch = 320 } } },
  wrong = {
    { guess = 10, why = "That is for the smallest batches." },
    { guess = function(old, n) return 10 * 1024 * 2048 / (n.critical * 1e6) end, why = "One plus that: the first 10 billion are needed anyway." },
    { change = { batch = 64 }, why = "Few tokens are needed, but 64 GPUs with one sequence each are mostly waiting." },
    { change = { recompute = "full" }, why = "That is a slower step." },
  },
}
