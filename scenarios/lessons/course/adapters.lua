local say = ...
return {
  title = "Train little of it",
  question = "Llama 2 7B is to be fine-tuned on one RTX 4090 of 24 GB, $micro sequence(s) of $tokens tokens at a time. Trained whole, it needs "
    .. "gradients and optimizer state for all weights. LoRA trains two thin matrices of rank r beside each of them instead.",
  ask = "With LoRA and full recomputation: how many GiB are taken in all?",
  task = "Make it fit.",
  numbers = { micro = { 1, 2 }, tokens = { 1024, 1536, 2048 } },
  settings = {
    { "lora_rank", 0, "0: all weights are trained; 16: two matrices of rank 16 beside each" },
    { "recompute", "none", "none or full", of = { "none", "full" } },
    { "micro", nil, "sequences at a time" },
    { "tokens", nil, "tokens of a sequence" },
  },
  change = { "lora_rank", "recompute" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "rtx4090-workstation", gpus = 1 },
  run = sim.training { model = "llama-2-7b", seq_len = set.tokens, lora_rank = set.lora_rank > 0 and set.lora_rank or nil,
                       recompute = set.recompute, batch = { micro = set.micro } },
}]],
  guess = {
    unit = "GiB", within = 0.2,
    answer = function(old, n, run) return run { lora_rank = 16, recompute = "full" }.memory / 2 ^ 30 end,
  },
  goal = function() return true end,               -- what does not fit solves nothing
  hints = {
    "Frozen weights need no gradient and no optimizer. What do they still need?",
    "2 bytes x 6.7 billion for the weights, next to nothing for the adapters, and what backward needs of activations.",
    "lora_rank = 16, recompute = \"full\".",
  },
  notice = function(new)
    return ("%s in all, of which weights are %s. With weights in four bits (QLoRA) it would be a third; each product then unpacks them first."):format(
      say.bytes(new.memory), say.bytes(new.memory_by_class.weights))
  end,
  formula = "memory = 2 bytes x parameters + 18 bytes x r (in + out) a matrix + activations. Limits: backward still passes through all layers, so a step is not much quicker.",
  measured = { "training-accuracy", "fms-acceleration-kernels", "fine-tuning of Llama 3 and Mistral, whole, LoRA and QLoRA" },
  solution = { lora_rank = 16, recompute = "full" },
  wrong = {
    { guess = 4, why = "Four bits a weight would be that. LoRA alone keeps 16." },
    { guess = 110, why = "That is training all of it." },
    { change = { recompute = "full" }, why = "Gradients and state of all weights are five times what the card has." },
  },
}
