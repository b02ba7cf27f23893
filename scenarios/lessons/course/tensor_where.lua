local say = ...
return {
  title = "Tensor parallel stays at home",
  question = "GPT-3 6.7B on $gpus A100 in machines of eight. Each layer's matrices are cut over 16 GPUs (tensor parallel 16), twice as many as "
    .. "a machine has: sums of activations cross the network four times a layer.",
  ask = "What percentage of a step waits for tensor-parallel exchanges?",
  task = "Bring the step to at most 0.65 of its time with another layout of the same GPUs.",
  numbers = { gpus = { 16, 32 }, micro = { 2, 3 } },
  settings = {
    { "tp", 16, "GPUs that share a layer" },
    { "gpus", nil, "GPUs" },
    { "micro", nil, "sequences of a micro-batch" },
    { "fabric", "ib-hdr200", "network between machines" },
  },
  change = { "tp" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = set.gpus, fabric = set.fabric },
  run = sim.training { model = "gpt3-6.7b", seq_len = 2048, zero = 1, recompute = "selective", parallel = { tp = set.tp },
                       batch = { micro = set.micro, global = 96 } },
}]],
  guess = { unit = "%", most = 100, within = 0.25, answer = function(old) return 100 * say.share(old, "tp") end },
  goal = function(new, old) return say.quicker(new, old, 0.65) end,
  hints = {
    "How often do tensor-parallel GPUs talk, and over which links?",
    "Inside a machine NVLink carries the sums ten times as fast as the network. And the smaller the pieces, the worse products fill a GPU.",
    "tp = 8: the machine. Or 4 or 2, as long as the state fits.",
  },
  notice = function(new, old)
    return ("Exchanges took %s of a step, now %s. Tensor parallelism ends where the machine ends: between machines one splits by stages or by data."):format(
      say.percent(say.share(old, "tp")), say.percent(say.share(new, "tp")))
  end,
  formula = "bytes = 4 all-reduces a layer and micro-batch of batch x tokens x hidden x 2. Limits: overlap hides part of it; GB200 machines are 72 GPUs wide.",
  measured = { "training-accuracy", "megatron-sc21-weak", "tensor and pipeline parallel runs of Megatron" },
  solution = { tp = 8 },
  right = { { change = { tp = 4 } }, { change = { tp = 2 } } },
  wrong = {
    { guess = 5, why = "That is about right inside one machine." },
    { change = { tp = 12 }, why = "A dozen divides neither 32 heads nor a machine of eight." },
  },
}
