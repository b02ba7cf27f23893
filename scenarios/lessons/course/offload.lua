local say = ...
return {
  title = "The optimizer on the host",
  question = "GPT-3 of 6.7 billion does not fit on one A100. With the optimizer's state and its update on the host (ZeRO-Offload), it does: "
    .. "gradients go over PCIe, the processors update, weights come back.",
  ask = "What percentage of a step of one micro-batch do update and copies take then?",
  task = "Make it run, with update and copies at most a quarter of a step.",
  numbers = { micro = { 1, 2 }, tokens = { 1536, 1792, 2048 } },
  settings = {
    { "optimizer_on", "gpu", "gpu or host: where the state lies and is updated", of = { "gpu", "host" } },
    { "accumulation", 1, "micro-batches of a step", 1, 256 },
    { "micro", nil, "sequences of a micro-batch" },
    { "tokens", nil, "tokens of a sequence" },
  },
  change = { "optimizer_on", "accumulation" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = 1 },
  run = sim.training { model = "gpt3-6.7b", seq_len = set.tokens, recompute = "full",
                       offload = set.optimizer_on == "host" and { optimizer = "host" } or nil,
                       batch = { micro = set.micro, accumulation = set.accumulation } },
}]],
  guess = {
    unit = "%", most = 100, within = 0.25,
    answer = function(old, n, run) return 100 * say.share(run { optimizer_on = "host" }, "optimizer", "copy") end,
  },
  goal = function(new)
    return say.most("Of a step update and copies take", say.percent, say.share(new, "optimizer", "copy"), 0.25)
  end,
  hints = {
    "6.7 billion parameters, some 30 bytes read and written for each: how long does a processor with 200 GB/s take?",
    "The update is paid once a step, however many micro-batches it has.",
    "optimizer_on = \"host\", accumulation = 16.",
  },
  notice = function(new)
    return ("It fits, in %s; update and copies are %s of a step of %s. What does not fit on the GPU can lie elsewhere, if it is needed seldom."):format(
      say.bytes(new.memory), say.percent(say.share(new, "optimizer", "copy")), say.time(new.step_time))
  end,
  formula = "step = a x C + parameters x (bytes of the update / host memory's bandwidth + 4 / PCIe). Limits: host memory of 16 bytes a parameter; overlap hides some copies.",
  measured = { "training-accuracy", "stas-ml-engineering-llama8b", "training of Llama 3 8B, most of it with the optimizer on the host" },
  solution = { optimizer_on = "host", accumulation = 16 },
  wrong = {
    { guess = 10, why = "A processor has a tenth of the GPU's memory bandwidth, and all of the state passes through it." },
    { change = { optimizer_on = "host" }, why = "It fits, but the host updates after every micro-batch." },
    { change = { accumulation = 16 }, why = "More micro-batches do not make the state smaller." },
  },
}
