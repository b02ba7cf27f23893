local say = ...
return {
  title = "Fused kernels",
  question = "GPT-2 (124 M) on one H100, $micro sequence(s) at a time, in eager PyTorch: every addition, norm and activation reads its "
    .. "input from memory and writes its output back.",
  ask = "What percentage of a step do these memory-bound kernels take?",
  task = "Bring the step to at most 0.8 of its time without changing batch or precision.",
  numbers = { micro = { 8, 10, 12, 16 } },
  settings = {
    { "framework", "eager", "eager: a kernel for each operation; fused: neighbours joined into one", of = { "eager", "fused" } },
    { "cuda_graphs", false, "true: kernels are recorded once, and started together" },
    { "micro", nil, "sequences at a time" },
  },
  change = { "framework", "cuda_graphs" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-h100", gpus = 1 },
  run = sim.training { model = "gpt2-124m", seq_len = 1024, framework = set.framework, cuda_graphs = set.cuda_graphs,
                       batch = { micro = set.micro } },
}]],
  guess = { unit = "%", most = 100, within = 0.3, answer = function(old) return 100 * say.share(old, "memory-bound") end },
  goal = function(new, old) return say.quicker(new, old, 0.8) end,
  hints = {
    "They compute next to nothing. What takes their time?",
    "Two operations in a row write and read the same numbers; joined into one kernel they stay in registers.",
    "framework = \"fused\", as torch.compile does it.",
  },
  notice = function(new, old)
    return ("Memory-bound kernels took %s, and take %s; a step %s, now %s. The FLOP are the same: it is bytes that were saved."):format(
      say.time(say.share(old, "memory-bound") * old.step_time), say.time(say.share(new, "memory-bound") * new.step_time),
      say.time(old.step_time), say.time(new.step_time))
  end,
  formula = "time = bytes read and written / bandwidth; joining k operations in a row saves up to (k - 1) / k of it. Limits: what a later operation needs whole (a norm's sum) ends a kernel.",
  measured = { "training-accuracy", "own-steps", "eager and compiled steps of PyTorch on one H100" },
  solution = { framework = "fused" },
  wrong = {
    { guess = 2, why = "They do few FLOP, not few bytes." },
    { change = { cuda_graphs = true }, why = "Launches are not what this batch waits for: it moves bytes." },
  },
}
