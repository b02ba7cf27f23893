local say = ...
return {
  title = "What tensor parallel does not cut",
  question = "GPT-3 of 13 billion over eight A100 by tensor parallelism, $micro sequence(s) of 2,048 tokens. Matrices are cut into eighths; "
    .. "norms and dropouts between them are done whole on every GPU, and what they keep for backward is kept eight times.",
  ask = "How many GiB less does a GPU hold if tokens are cut there too?",
  task = "Bring memory to at most 0.8 without a longer step.",
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
    "For each token and layer some 10 bytes x hidden are kept outside of what is cut (Korthikanti et al. 2022).",
    "An all-reduce is a reduce-scatter and an all-gather. Between the two each GPU has an eighth of the tokens: do norms there.",
    "sequence_parallel = true.",
  },
  notice = function(new, old)
    return ("%s, now %s; a step %s, now %s. As many bytes travel as before, and norms are done once instead of eight times."):format(
      say.bytes(old.memory), say.bytes(new.memory), say.time(old.step_time), say.time(new.step_time))
  end,
  formula = "kept a layer: s b h (10 + 24 / t) bytes before, s b h 34 / t after, with flash attention. Limits: tokens must divide by t.",
  measured = { "training-accuracy", "korthikanti-2022", "the runs of the paper that proposed it" },
  solution = { sequence_parallel = true },
  wrong = {
    { guess = 0.5, why = "10 bytes x 5,120 x 2,048 tokens x sequences x 40 layers is more." },
    { guess = 40, why = "That is nearly all there is." },
    { change = { recompute = "full" }, why = "Less memory, but a third more work." },
  },
}
