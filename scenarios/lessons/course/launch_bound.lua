local say = ...
return {
  title = "A GPU that waits for its host",
  question = "GPT-2 (124 M) is trained on one H100, $micro sequence(s) of $tokens tokens at a time, in eager PyTorch. Each operation is "
    .. "a kernel that the host starts, and for so few tokens most are over in a few microseconds.",
  ask = "What percentage of a step does the GPU wait for launches and for the host?",
  task = "Bring the step to at most 0.7 of its time. The model and the batch stay.",
  numbers = { micro = { 1 }, tokens = { 512, 640, 768, 1024 } },
  settings = {
    { "cuda_graphs", false, "true: kernels are recorded once, and started together" },
    { "node", "dgx-h100", "type of machine" },
    { "micro", nil, "sequences at a time" },
    { "tokens", nil, "tokens of a sequence" },
  },
  change = { "cuda_graphs", "node" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = set.node, gpus = 1 },
  run = sim.training { model = "gpt2-124m", seq_len = set.tokens, framework = "eager", cuda_graphs = set.cuda_graphs,
                       batch = { micro = set.micro } },
}]],
  guess = { unit = "%", most = 100, within = 0.3, answer = function(old) return 100 * say.share(old, "launch", "host") end },
  goal = function(new, old) return say.quicker(new, old, 0.7) end,
  hints = {
    "Count kernels: a dozen layers, some tens of operations each, forward and backward, and the optimizer. What does starting one cost?",
    "A host starts a kernel in some 5 to 10 microseconds. What is not computing then, waits. A quicker GPU waits longer.",
    "cuda_graphs = true.",
  },
  notice = function(new, old)
    return ("Launches and host took %s of the step, and take %s now. Nothing of the arithmetic changed: the step went from %s to %s."):format(
      say.percent(say.share(old, "launch", "host")), say.percent(say.share(new, "launch", "host")), say.time(old.step_time), say.time(new.step_time))
  end,
  formula = "time of a kernel = max(what it computes, what the host needs to start the next). Limits: graphs need shapes that do not change; large batches hide launches by themselves.",
  measured = { "training-accuracy", "own-steps", "steps of PyTorch on one H100, with each kernel's time" },
  solution = { cuda_graphs = true },
  wrong = {
    { guess = 5, why = "For a large batch that would be right. Here kernels are shorter than their launch." },
    { change = { node = "dgx-b200" }, why = "The quicker GPU waits for the same host: the step hardly moves." },
  },
}
