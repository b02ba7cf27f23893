local say = ...
return {
  title = "Sixteen bytes for each parameter",
  question = "A GPT of $billion billion parameters on $gpus A100, with Adam in mixed precision. Plain data parallelism keeps weights, "
    .. "gradients and the optimizer's state whole on every GPU.",
  ask = "How many GiB do these three take on each GPU?",
  task = "Bring the memory of a GPU to at most 0.45 of it, with ZeRO and without a longer step.",
  numbers = { gpus = { 8 }, billion = { 1.3, 1.7, 1.5 } },
  settings = {
    { "zero", 0, "0: nothing is spread; 1: the optimizer's state; 2: gradients too; 3: weights too", of = { 0, 1, 2, 3 } },
    { "recompute", "none", "none, selective, full: activations computed again in backward" },
    { "billion", nil, "billion parameters" },
    { "gpus", nil, "GPUs" },
  },
  change = { "zero", "recompute" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = set.gpus },
  run = sim.training { model = ({ [1.3] = "gpt3-1.3b", [1.5] = "gpt2-1.5b", [1.7] = "megatron-1.7b" })[set.billion], seq_len = 1024, zero = set.zero, recompute = set.recompute, batch = { micro = 1 } },
}]],
  guess = {
    unit = "GiB", within = 0.25,
    answer = function(old)
      local m = old.memory_by_class
      return (m.weights + m.gradients + m.optimizer) / 2 ^ 30
    end,
  },
  goal = function(new, old)
    local fits = say.smaller(new, 0.45 * old.memory)
    return fits ~= true and fits or say.quicker(new, old, 1)
  end,
  hints = {
    "Count bytes for each parameter: the weight, its gradient, and what Adam keeps.",
    "2 for the weight, 2 to 4 for the gradient, 12 for the optimizer: a master weight and two moments in 32 bits. ZeRO gives each of n GPUs an n-th of some of them.",
    "zero = 2.",
  },
  notice = function(new, old)
    return ("With activations and working space a GPU had %s, and has %s now; the step went from %s to %s, for each GPU now updates an eighth of the parameters. One GPU updates them all, so eight do more than eight times its work: an efficiency above 100 %%. An all-reduce is a reduce-scatter and an all-gather: ZeRO 1 and 2 send no more than before."):format(
      say.bytes(old.memory), say.bytes(new.memory), say.time(old.step_time), say.time(new.step_time))
  end,
  formula = "bytes a parameter: 16 to 18 without, 4 + 12/n (ZeRO 1), 2 + 14/n (2), 16/n (3). Limits: activations come on top; what is spread must be gathered again.",
  measured = { "training-accuracy", "deepspeed-autotuning-v100", "ZeRO 0 to 3 on sixteen V100" },
  solution = { zero = 2 },
  wrong = {
    { guess = 2.5, why = "That is 2 bytes for each parameter: the weights alone." },
    { guess = 5, why = "That is weights and gradients. Adam keeps most." },
    { change = { zero = 1 }, why = "The optimizer's state is spread, gradients are still whole." },
    { change = { recompute = "full" }, why = "That saves activations, and they are not what is large here." },
  },
}
