local say = ...
return {
  title = "Shard where links are quick",
  question = "GPT-2 of 1.5 billion on two machines of eight A100 with one cable of $fabric between them, fully sharded (ZeRO 3): weights "
    .. "are gathered in forward, again in backward, and gradients are scattered, over all sixteen.",
  ask = "How many times as long is a step as with ZeRO 1, where only gradients and new weights travel?",
  task = "Bring the step to at most half, with at most 12 GiB on a GPU.",
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
    "What crosses the thin cable, and how often?",
    "If each machine keeps a whole copy, spread over its eight GPUs, weights are gathered over NVLink, and only gradients, already scattered, cross the cable.",
    "shard = 8, which PyTorch calls HYBRID_SHARD.",
  },
  notice = function(new, old, n, set)
    return ("%s, now %s; memory %s, now %s: %d times the shard on each GPU, for weights that no longer cross."):format(
      say.time(old.step_time), say.time(new.step_time), say.bytes(old.memory), say.bytes(new.memory), 16 // set.shard)
  end,
  formula = "over the cable: ZeRO 3 three times the weights' bytes, ZeRO 1 and DDP twice; sharded within machines, each GPU adds up its eighth of the gradients with the other machine, once all of them together. Limits: a machine must hold a whole copy.",
  measured = { "training-accuracy", "mosaicml-llm-foundry", "fully sharded training of MPT on 8 to 512 GPUs" },
  solution = { shard = 8 },
  wrong = {
    { guess = 3, why = "Three passes instead of two, not instead of one." },
    { guess = 1, why = "Spreading weights saves memory; they must be gathered each time." },
    { change = { zero = 1 }, why = "Quicker, but weights and gradients are whole again." },
  },
}
