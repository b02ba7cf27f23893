local say = ...
return {
  title = "BLOOM's layout",
  question = "BigScience trained BLOOM, a model of 176 billion parameters, on 384 A100; GPT-3, which has nearly its shape, stands for it here. 8 replicas share a batch of "
    .. "2,048 sequences. Each replica has 48 GPUs: a pipeline of 12 stages, with 4 GPUs for each matrix (tensor parallel 4). All activations are computed twice. "
    .. "A colleague wants $tp GPUs for each matrix and $pp stages.",
  ask = "What MFU does the colleague's layout reach, in percent?",
  task = "Choose tp and pp so that a step is at least 2 % shorter. A replica keeps its 48 GPUs: tp x pp = 48.",
  numbers = { tp = { 2 }, pp = { 24 } },
  settings = {
    { "tp", nil, "GPUs that share a matrix" },
    { "pp", nil, "stages" },
    { "micro", 2, "sequences of a micro-batch" },
  },
  change = { "tp", "pp" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = 384, fabric = sim.rail_fat_tree { link = "ib-hdr200" } },
  run = sim.training { model = "gpt3-175b", seq_len = 2048, batch = { global = 2048, micro = set.micro }, zero = 1, precision = "bf16",
    parallel = { tp = set.tp, pp = set.pp, sequence_parallel = false }, framework = "megatron", attention = "plain", recompute = "full" },
}]],
  guess = { unit = "%", most = 100, within = 0.2, answer = function(old) return 100 * old.mfu end },
  goal = function(new, old, set)
    if set.tp * set.pp ~= 48 then return "tp x pp must stay 48, so that there are 8 replicas." end
    return say.quicker(new, old, 0.98)
  end,
  hints = {
    "More stages: what waits? More GPUs for each matrix: what travels?",
    "24 stages with 128 micro-batches wait for 23 / 151 of the time; tensor parallel 4 stays within a machine.",
    "tp = 4, pp = 12: what BigScience chose.",
  },
  notice = function(new, old)
    return ("A step of %s became %s; waiting in the pipeline %s, now %s; tensor exchange %s, now %s."):format(
      say.time(old.step_time), say.time(new.step_time), say.percent(say.share(old, "pp")), say.percent(say.share(new, "pp")),
      say.percent(say.share(old, "tp")), say.percent(say.share(new, "tp")))
  end,
  formula = "bubble (p - 1) / (m + p - 1), m = batch / (replicas x micro). Limits: memory; tp within a machine.",
  measured = { "training-accuracy", "bigscience-bloom-a100", "BigScience's own trials of layouts" },
  solution = { tp = 4, pp = 12 },
  right = { { change = { tp = 8, pp = 6 } } },
  wrong = {
    { guess = 80, why = "Every layer is computed twice: three quarters would be the end even at the peak." },
    { guess = 15, why = "That is what bad layouts give. This one is not so bad." },
    { change = { tp = 8, pp = 12 }, why = "That is 96 GPUs a replica." },
    { change = { pp = 12 }, why = "That is 24 GPUs a replica: tp x pp must stay 48." },
  },
}
