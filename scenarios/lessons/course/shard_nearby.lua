local say = ...
return {
  title = "Shard where links are quick",
  question = "GPT-2 with 1.5 billion parameters on two machines of eight A100. One cable ($fabric) joins the two. With ZeRO 3 each of the sixteen GPUs "
    .. "keeps one sixteenth of everything. In each step three things as large as the model cross the cable: the weights for forward, the weights again "
    .. "for backward, and the gradients. With ZeRO 1 it is two: the gradients, and the new weights.",
  ask = "How many times as long is a step with ZeRO 3 as with ZeRO 1?",
  task = "Make the step at least twice as quick, with at most 12 GiB of memory on a GPU.",
  numbers = { fabric = { "eth-10g", "eth-25g" }, micro = { 1, 2 } },
  settings = {
    { "shard", 16, "GPUs that share one copy of the state: 16, 8, 4 or 2", of = { 16, 8, 4, 2 } },
    { "zero", 3, "1, 2 or 3", of = { 1, 2, 3 } },
    { "micro", nil, "sequences on each GPU" },
    { "fabric", nil, "network between the machines" },
  },
  change = { "shard", "zero" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = 16, fabric = set.fabric, nics = 1 },
  run = sim.training { model = "gpt2-1.5b", seq_len = 1024, parallel = { zero = set.zero, shard = set.shard }, batch = { micro = set.micro } },
}]],
  guess = { unit = "times", within = 0.2, answer = function(old, n, run) return old.step_time / run { zero = 1 }.step_time end },
  goal = function(new, old)
    local fits = say.smaller(new, 12 * 2 ^ 30)
    return fits ~= true and fits or say.quicker(new, old, 0.5)
  end,
  hints = {
    "Nearly all of the step is waiting for the cable. What crosses it, and how often?",
    "Let each machine keep a whole copy, spread over its own eight GPUs. Then weights travel over NVLink inside the machine, and only gradients cross the cable.",
    "shard = 8: eight GPUs share one copy. PyTorch calls it HYBRID_SHARD.",
  },
  notice = function(new, old, n, set)
    return ("The step took %s, and takes %s now. Memory was %s and is %s: each GPU keeps %d times as many of weights, gradients and optimizer state, and in return weights no longer cross the cable."):format(
      say.time(old.step_time), say.time(new.step_time), say.bytes(old.memory), say.bytes(new.memory), 16 // set.shard)
  end,
  formula = "Bytes over the cable, in sizes of the model: ZeRO 3 three, ZeRO 1 and DDP two, sharded inside each machine one. Limits: a machine must have memory for a whole copy.",
  measured = { "training-accuracy", "mosaicml-llm-foundry", "fully sharded training of MPT on 8 to 512 GPUs" },
  solution = { shard = 8 },
  wrong = {
    { guess = 3, why = "Three sizes of the model cross in place of two, not in place of one." },
    { guess = 1, why = "ZeRO 3 sends more: a GPU that does not keep the weights must fetch them each time." },
    { change = { zero = 1 }, why = "Quicker, but now each GPU keeps all weights and gradients, and still all gradients cross the cable." },
  },
}
