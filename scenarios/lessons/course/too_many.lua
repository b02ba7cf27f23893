local say = ...
return {
  title = "When 512 GPUs are a waste",
  question = "GPT-2 (1.5 B) on $tokens tokens with a global batch of 512 sequences, on 512 H100 with one 100 Gb/s card a machine, at 2 USD a GPU-hour (a B200: 4). Each "
    .. "GPU has one sequence; then all exchange their gradients.",
  ask = "How many times as much does the run cost as on 64 GPUs?",
  task = "Have it done as soon, or sooner, for at most an eighth of the money.",
  numbers = { tokens = { "10B", "20B", "40B" } },
  settings = {
    { "gpus", 512, "GPUs" },
    { "node", "dgx-h100", "type of machine: dgx-h100, dgx-b200", of = { "dgx-h100", "dgx-b200" } },
    { "tokens", nil, "tokens in all" },
  },
  change = { "gpus", "node" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = set.node, gpus = set.gpus, fabric = "roce-100", nics = 1, price = { gpu_hour = set.node == "dgx-b200" and 4 or 2 } },
  run = sim.training { model = "gpt2-1.5b", seq_len = 1024, tokens = set.tokens, zero = 1, batch = { global = 512 } },
}]],
  guess = {
    unit = "times", within = 0.25,
    answer = function(old, n, run) return old.cost_per_run / run { gpus = 64 }.cost_per_run end,
  },
  goal = function(new, old)
    local soon = say.most("It takes", say.time, new.days * 86400, old.days * 86400)
    return soon ~= true and soon or say.most(("It cost %s, and costs"):format(say.money(old.cost_per_run)), say.money, new.cost_per_run, old.cost_per_run / 8)
  end,
  hints = {
    "What of a step becomes shorter with more GPUs, and what does not?",
    "Compute is divided by the GPUs. The exchange is not: every GPU sends and receives all gradients, however many there are.",
    "gpus = 64, or 32.",
  },
  notice = function(new, old)
    return ("%s for %s, now %s for %s. The exchange was %s of a step. More GPUs want a larger batch, a better network, or another job."):format(
      say.time(old.days * 86400), say.money(old.cost_per_run), say.time(new.days * 86400), say.money(new.cost_per_run), say.percent(say.share(old, "dp")))
  end,
  formula = "step = C / n + E; cost = n x step. Limits: overlap hides E behind C / n while that is longer.",
  measured = { "training-accuracy", "mxnet-p2-256gpu", "image networks on 1 to 256 GPUs over Ethernet" },
  solution = { gpus = 64 },
  right = { { guess = 8 }, { change = { gpus = 32 } } },
  wrong = {
    { guess = 1, why = "If eight times the GPUs were eight times as quick." },
    { guess = 2, why = "Look at what one GPU still computes: one sequence." },
    { change = { gpus = 128 }, why = "As quick, and a quarter of the price: there is more to gain." },
    { change = { node = "dgx-b200" }, why = "Quicker GPUs wait for the same network." },
  },
}
