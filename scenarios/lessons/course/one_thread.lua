local say = ...
return {
  title = "Eight GPUs, one process",
  question = "ResNet-50 on eight V100 in one machine, $micro images on each. DataParallel drives all of them from one Python process: "
    .. "it hands out the batch and the weights each step, and gathers the outputs on the first GPU.",
  ask = "How many times as much do the eight train as one GPU alone?",
  task = "Reach at least twice the throughput with the same eight GPUs and the same batch.",
  numbers = { micro = { 32, 40, 48 } },
  settings = {
    { "strategy", "data-parallel", "data-parallel: one process; ddp: a process for each GPU", of = { "data-parallel", "ddp" } },
    { "node", "dgx-1", "type of machine" },
    { "micro", nil, "images on each GPU" },
    { "gpus", 8, "GPUs" },
  },
  change = { "strategy", "node" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = set.node, gpus = set.gpus },
  run = sim.training { model = "resnet-50", strategy = set.strategy, batch = { micro = set.micro } },
}]],
  guess = {
    unit = "times", within = 0.3,
    answer = function(old, n, run) return old.samples_per_s / run { gpus = 1, strategy = "ddp" }.samples_per_s end,
  },
  goal = function(new, old, set, usual)
    if set.node ~= usual.node then return "These are other GPUs: the same eight are asked for." end
    return say.more(new, old, 2, "samples_per_s")
  end,
  hints = {
    "What does the one process do while eight GPUs wait for it?",
    "One interpreter starts the kernels of eight GPUs one after the other. With a process for each GPU they start at the same time, and only gradients travel.",
    "strategy = \"ddp\".",
  },
  notice = function(new, old)
    return ("%s images a second, and %s with DDP: %s of a step was the launching of kernels. PyTorch's own pages advise against DataParallel, even in one machine."):format(
      say.whole(old.samples_per_s), say.whole(new.samples_per_s), say.percent(say.share(old, "launch")))
  end,
  formula = "DataParallel: step >= gpus x time to launch one replica. DDP: step = compute + what of the all-reduce is not hidden. Limits: large replicas hide launches.",
  measured = { "training-accuracy", "raysgd-v100-dataparallel", "DataParallel on 1 to 8 V100" },
  solution = { strategy = "ddp" },
  wrong = {
    { guess = 8, why = "That is what one pays for. One process does the work of eight." },
    { guess = 7.5, why = "That is about what DDP does." },
    { change = { node = "dgx-a100" }, why = "Quicker GPUs wait for the same single process." },
  },
}
