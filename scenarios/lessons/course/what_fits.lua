local say = ...
return {
  title = "What grows with the batch",
  question = "GPT-3 of 1.3 billion on one A100 of 80 GiB, $micro sequence(s) of $tokens tokens at a time. Weights, gradients and the optimizer's "
    .. "state do not depend on the batch; what forward keeps for backward does.",
  ask = "How many GiB are kept for backward, for each sequence?",
  task = "Find a batch of at least 10 sequences that fits.",
  numbers = { micro = { 1 }, tokens = { 1536, 1792, 2048 } },
  settings = {
    { "micro", nil, "sequences at a time" },
    { "tokens", nil, "tokens of a sequence" },
    { "attention", "flash", "flash or plain", of = { "flash", "plain" } },
  },
  change = { "micro", "attention" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = 1 },
  run = sim.training { model = "gpt3-1.3b", seq_len = set.tokens, attention = set.attention, batch = { micro = set.micro } },
}]],
  guess = { unit = "GiB", within = 0.35, answer = function(old, n) return old.memory_by_class.activations / 2 ^ 30 / n.micro end },
  goal = function(new, old, set)
    return set.micro >= 10 or "That is less than 10 sequences." -- and what does not fit solves nothing
  end,
  hints = {
    "Everything that backward will multiply with must still be there: inputs of products, of norms, of activations.",
    "About 34 bytes x tokens x hidden for each layer, with flash attention: 34 x $tokens x 2,048 x 24, and the logits.",
    "micro = 12.",
  },
  notice = function(new, old)
    local m = old.memory_by_class
    return ("Weights, gradients and the optimizer's state take %s whatever the batch; activations were %s and are %s."):format(
      say.bytes(m.weights + m.gradients + m.optimizer), say.bytes(old.memory_by_class.activations), say.bytes(new.memory_by_class.activations))
  end,
  formula = "memory = 18 bytes x parameters + micro x 34 s h L bytes. Limits: plain attention adds 5 a s^2 bytes a layer; frameworks keep some things twice.",
  measured = { "training-accuracy", "torchtune-a100", "fine-tuning on one A100" },
  solution = { micro = 12 },
  wrong = {
    { guess = 0.2, why = "That is the input of each layer alone, 2 bytes for each number. Backward needs more." },
    { guess = 25, why = "That is about all memory with one sequence; most of it is state." },
    { change = { micro = 64 }, why = "So many do not fit." },
    { change = { micro = 4 }, why = "That is less than 10 sequences." },
    { change = { micro = 12, attention = "plain" }, why = "Plain attention keeps a matrix of tokens by tokens for each head." },
  },
}
