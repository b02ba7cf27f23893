local say = ...
return {
  title = "Adam's luggage",
  question = "GPT-3 of 2.7 billion on one A100, $micro sequence(s) at a time, with Adam in mixed precision: for each parameter a master weight and two moments in 32 bits.",
  ask = "How many GiB does the optimizer's state take?",
  task = "Bring memory to at most 35 GiB, without a longer step.",
  numbers = { micro = { 1, 2 }, tokens = { 1024, 1536, 2048 } },
  settings = {
    { "optimizer", "adam", "adam, adam-8bit, sgd", of = { "adam", "adam-8bit", "sgd" } },
    { "precision", "bf16", "of products: bf16, fp16", of = { "bf16", "fp16" } },
    { "micro", nil, "sequences at a time" },
    { "tokens", nil, "tokens of a sequence" },
  },
  change = { "optimizer", "precision" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = 1 },
  run = sim.training { model = "gpt3-2.7b", seq_len = set.tokens, optimizer = set.optimizer, precision = set.precision, recompute = "full",
                       batch = { micro = set.micro } },
}]],
  guess = { unit = "GiB", within = 0.15, answer = function(old) return old.memory_by_class.optimizer / 2 ^ 30 end },
  goal = function(new, old, set, usual)
    local fits = say.smaller(new, 35 * 2 ^ 30)
    return fits ~= true and fits or say.quicker(new, old, 1.01)
  end,
  hints = {
    "Three numbers of four bytes for each parameter.",
    "Moments need range more than digits: in 8 bits, block by block with a scale, they train as well (Dettmers et al. 2022).",
    "optimizer = \"adam-8bit\".",
  },
  notice = function(new, old)
    return ("State of %s, now %s, and all memory %s, now %s. The update reads and writes less too: %s of a step became %s."):format(
      say.bytes(old.memory_by_class.optimizer), say.bytes(new.memory_by_class.optimizer), say.bytes(old.memory), say.bytes(new.memory),
      say.percent(say.share(old, "optimizer")), say.percent(say.share(new, "optimizer")))
  end,
  formula = "Adam: 4 + 4 + 4 bytes a parameter; 8-bit Adam 4 + 1 + 1 and a scale a block; SGD with momentum 4 + 4. Limits: SGD is another training.",
  measured = { "training-accuracy", "torchtune-a100", "fine-tuning with Adam in 32 and in 8 bits on one A100" },
  solution = { optimizer = "adam-8bit" },
  wrong = {
    { guess = 5, why = "That is 2 bytes for each parameter: the weights in bf16." },
    { guess = 10, why = "That is one number of four bytes. There are three." },
    { change = { optimizer = "sgd" }, why = "It keeps one moment less, still in 32 bits." },
    { change = { precision = "fp16" }, why = "The state stays in 32 bits, whatever products are done in." },
  },
}
