local say = ...
return {
  title = "A hundred thousand numbers for each token",
  question = "Llama 3 8B on eight H100 with ZeRO 3, $micro sequence(s) of 8,192 tokens on each GPU. At the end of the model stands the head: for every token it computes "
    .. "one number for each of the 128,256 words it knows (logits). The loss needs them in 32 bits, and their gradients take as much again. They are "
    .. "needed for a moment only, but all at the same time.",
  ask = "If head and loss are computed for an eighth of the tokens at a time: how many GiB less does a GPU need?",
  task = "Bring the memory of a GPU to at most 0.85 of what it is, with a step at most 2 % longer.",
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
    "Logits: tokens x vocabulary x 4 bytes. How many GiB are that for one sequence? And with their gradients?",
    "8,192 x 128,256 x 4 bytes are 3.9 GiB for a sequence, and the gradients are as large. In eight chunks an eighth of it is there at a time, so seven eighths are saved.",
    "loss_chunks = 8.",
  },
  notice = function(new, old)
    return ("Memory was %s and is %s. A step took %s and takes %s: nothing is computed twice, and there are a few more kernels. Libraries such as Liger and torchtune do this."):format(
      say.bytes(old.memory), say.bytes(new.memory), say.time(old.step_time), say.time(new.step_time))
  end,
  formula = "bytes = tokens x vocabulary x (4 for logits + 4 for gradients) / chunks. Limits: small chunks are small products, which fill a GPU badly, and each chunk launches its own kernels.",
  measured = { "training-accuracy", "torchtune-a100", "fine-tuning of Llama 3.2, whose head gives 128,256 logits" },
  solution = { loss_chunks = 8 },
  right = { { guess = function(old, n) return n.micro * 8192 * 128256 * 8 * 7 / 8 / 2 ^ 30 end } },
  wrong = {
    { guess = 0.5, why = "That is too little: a sequence alone has 8,192 x 128,256, 1.05 billion logits of 4 bytes." },
    { change = { zero = 2 }, why = "Then each GPU keeps all weights: that is more memory, not less." },
  },
}
