local say = ...
return {
  title = "A hundred thousand numbers for each token",
  question = "Llama 3 8B on eight H100, fully sharded, $micro sequence(s) of 8,192 tokens on each. The head gives 128,256 logits for each token, and the "
    .. "loss needs them in 32 bits: the largest tensor of all, alive for a moment.",
  ask = "How many GiB less does a GPU take if the loss is computed over eight chunks of tokens, one after the other?",
  task = "Bring memory to at most 0.85, without a longer step.",
  numbers = { micro = { 1, 2, 3 } },
  settings = {
    { "loss_chunks", 1, "pieces in which head and loss are computed", 1, 64 },
    { "zero", 3, "2 or 3", of = { 2, 3 } },
    { "micro", nil, "sequences on each GPU" },
  },
  change = { "loss_chunks", "zero" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-h100", gpus = 8 },
  run = sim.training { model = "llama-3-8b", seq_len = 8192, zero = set.zero, recompute = "full",
                       loss_chunks = set.loss_chunks > 1 and set.loss_chunks or nil, batch = { micro = set.micro } },
}]],
  guess = { unit = "GiB", within = 0.35, answer = function(old, n, run) return (old.memory - run { loss_chunks = 8 }.memory) / 2 ^ 30 end },
  goal = function(new, old)
    local fits = say.smaller(new, 0.85 * old.memory)
    return fits ~= true and fits or say.quicker(new, old, 1.02)
  end,
  hints = {
    "Tokens x vocabulary x bytes. Which bytes, and how many copies?",
    "8,192 x 128,256 x 4 bytes are 3.9 GiB a sequence, and the gradient is as large. In eight chunks an eighth of it is alive at a time.",
    "loss_chunks = 8.",
  },
  notice = function(new, old)
    return ("%s, now %s, and a step takes %s as before: %s. Fused losses (Liger, torchtune) do this."):format(
      say.bytes(old.memory), say.bytes(new.memory), say.time(old.step_time), say.time(new.step_time))
  end,
  formula = "bytes = tokens x vocabulary x (2 + 4) or more. Limits: chunks are smaller products; many chunks launch more.",
  measured = { "training-accuracy", "torchtune-a100", "fine-tuning of Llama 3.2, whose head gives 128,256 logits" },
  solution = { loss_chunks = 8 },
  wrong = {
    { guess = 0.5, why = "Count again: a sequence alone has 1.05 billion logits." },
    { change = { zero = 2 }, why = "Then weights are whole on each GPU: more, not less." },
  },
}
