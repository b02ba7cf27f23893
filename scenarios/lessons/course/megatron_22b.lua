local say = ...
return {
  title = "Megatron, 22 billion on eight A100",
  question = "Korthikanti et al. (2022) trained GPT of 22 billion on one machine of eight A100: batch 4, 2,048 tokens, tensor parallel 8, every layer computed "
    .. "again in backward. They measured 1.42 s an iteration, and then changed two things.",
  ask = "How many percent shorter was it, as simulated, after both changes?",
  task = "Make both changes: bring the iteration to at most 0.8 of its time, with memory to spare (at most 70 GiB).",
  numbers = { micro = { 4 } },
  settings = {
    { "recompute", "full", "none, selective (attention's inside alone), full" },
    { "sequence_parallel", false, "true: norms and dropouts are cut by tokens too" },
    { "micro", nil, "sequences at a time" },
  },
  change = { "recompute", "sequence_parallel" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = 8 },
  run = sim.training { model = "megatron-22b", seq_len = 2048, batch = { global = 4, micro = set.micro }, precision = "fp16",
    parallel = { tp = 8, sequence_parallel = set.sequence_parallel }, framework = "megatron", attention = "plain",
    recompute = set.recompute, optimizer = "adam", overlap = { grad_reduce = false } },
  published = { { step_time = "1.42 s", source = "Korthikanti et al. 2022, table 5" } },
}]],
  guess = {
    unit = "%", most = 100, within = 0.3,
    answer = function(old, n, run)
      return 100 * (1 - run { recompute = "selective", sequence_parallel = true }.step_time / old.step_time)
    end,
  },
  goal = function(new, old)
    local fits = say.smaller(new, 70 * 2 ^ 30)
    return fits ~= true and fits or say.quicker(new, old, 0.8)
  end,
  hints = {
    "Full recomputation is one forward more. Which part of a layer keeps much and computes little?",
    "Attention's inside keeps a matrix of tokens by tokens for each head, and is cheap to compute again. Sequence parallelism pays for keeping the rest.",
    "recompute = \"selective\", sequence_parallel = true.",
  },
  notice = function(new, old)
    return ("Simulated %s and %s; measured 1.42 s and 1.10 s. Off by %.0f %% and %.0f %%, with nothing fitted to these runs."):format(
      say.time(old.step_time), say.time(new.step_time), 100 * (old.step_time / 1.42 - 1), 100 * (new.step_time / 1.10 - 1))
  end,
  formula = "4/3 of the work becomes 1 + a few percent. Limits: with flash attention the choice is moot, for it recomputes inside anyway.",
  measured = { "training-accuracy", "korthikanti-2022", "the runs themselves" },
  solution = { recompute = "selective", sequence_parallel = true },
  wrong = {
    { guess = 50, why = "A forward is a third of the work, and not all of an iteration." },
    { guess = 5, why = "A whole forward is saved, nearly." },
    { change = { sequence_parallel = true }, why = "Memory falls, but every layer is still computed twice." },
    { change = { recompute = "selective" }, why = "As quick, nearly; but memory is at its end without the second change." },
  },
}
