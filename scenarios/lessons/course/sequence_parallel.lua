local say = ...
return {
  title = "What tensor parallel does not cut",
  question = "GPT-3 with 13 billion parameters on eight A100 with tensor parallel 8: each GPU has an eighth of every matrix. Between two matrices stand "
    .. "norms and dropouts. Every GPU does them for all tokens, and keeps their results for backward: the same numbers on all eight GPUs. "
    .. "There are $micro sequence(s) of 2,048 tokens, 40 layers, and 5,120 numbers for a token (hidden); norms and dropouts keep 10 bytes for each number and layer.",
  ask = "If each GPU does norms and dropouts for an eighth of the tokens alone: how many GiB less does it need?",
  task = "Bring the memory of a GPU to at most 0.8 of what it is, without a longer step.",
  numbers = { micro = { 4, 5, 6 } },
  settings = {
    { "sequence_parallel", false, "true: norms and dropouts are cut by tokens" },
    { "recompute", "none", "none, selective, full" },
    { "micro", nil, "sequences at a time" },
  },
  change = { "sequence_parallel", "recompute" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = 8 },
  run = sim.training { model = "gpt3-13b", seq_len = 2048, zero = 1, recompute = set.recompute,
                       parallel = { tp = 8, sequence_parallel = set.sequence_parallel }, batch = { micro = set.micro } },
}]],
  guess = {
    unit = "GiB", within = 0.4,
    answer = function(old, n, run) return (old.memory - run { sequence_parallel = true }.memory) / 2 ^ 30 end,
  },
  goal = function(new, old)
    local fits = say.smaller(new, 0.8 * old.memory)
    return fits ~= true and fits or say.quicker(new, old, 1.005)
  end,
  hints = {
    "Multiply: bytes x hidden x tokens x sequences x layers. That is kept eight times; once would be enough (Korthikanti et al. 2022).",
    "An all-reduce is a reduce-scatter, then an all-gather. Between the two each GPU has an eighth of the tokens: norms and dropouts can be done there. The bytes that travel are the same.",
    "sequence_parallel = true.",
  },
  notice = function(new, old)
    return ("Memory was %s and is %s; a step took %s and takes %s. As many bytes travel as before, and each norm is done once, no longer eight times."):format(
      say.bytes(old.memory), say.bytes(new.memory), say.time(old.step_time), say.time(new.step_time))
  end,
  formula = "Kept for a layer: tokens x hidden x (10 + 24 / t) bytes before, tokens x hidden x 34 / t after, with t GPUs and flash attention. Limits: tokens must divide by t.",
  measured = { "training-accuracy", "korthikanti-2022", "the runs of the paper that proposed it" },
  solution = { sequence_parallel = true },
  right = { { guess = function(old, n) return 10 * 5120 * 2048 * n.micro * 40 * 7 / 8 / 2 ^ 30 end } },
  wrong = {
    { guess = 0.5, why = "That is about one layer. There are 40." },
    { guess = 40, why = "That is nearly all there is." },
    { change = { recompute = "full" }, why = "Less memory, but a third more work." },
  },
}
