local say = ...
return {
  title = "Fewer bits",
  question = "GPT-2 (774 M) on one $gpu in 32 bits, $micro sequence(s) of 1,024 tokens at a time. Its tensor cores multiply in 16 bits "
    .. "some 15 times as fast as its ordinary cores do in 32.",
  ask = "How many times as fast is a step in bf16?",
  task = "Make the step at least 3.2 times as fast, with the precision alone.",
  numbers = { micro = { 4, 5, 6, 7 }, gpu = { "H100" } },
  settings = {
    { "precision", "fp32", "fp32, tf32, bf16, fp16, fp8", of = { "fp32", "tf32", "bf16", "fp16", "fp8" } },
    { "gpu", nil, "the GPU" },
    { "micro", nil, "sequences at a time" },
  },
  change = { "precision" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-h100", gpus = 1 },
  run = sim.training { model = "gpt2-774m", seq_len = 1024, precision = set.precision, batch = { micro = set.micro } },
}]],
  guess = { unit = "times", within = 0.3, answer = function(old, n, run) return old.step_time / run { precision = "bf16" }.step_time end },
  goal = function(new, old) return say.quicker(new, old, 1 / 3.2) end,
  hints = {
    "Only matrix products become so much faster. What else is in a step?",
    "Amdahl: what is not a product keeps its time, or halves it where it moves bytes. Soon that is most of the step.",
    "precision = \"bf16\".",
  },
  notice = function(new, old)
    return ("Products took %s of the step, and take %s now: what is left is launches, memory and the optimizer. %s became %s."):format(
      say.percent(say.share(old, "gemm")), say.percent(say.share(new, "gemm")), say.time(old.step_time), say.time(new.step_time))
  end,
  formula = "speedup = 1 / (1 - share + share / factor), with the share of products. Limits: 16 bits need 32-bit master weights or bf16's range; attention changes its kernel too.",
  measured = { "training-accuracy", "lambda-deeplearning-benchmark", "the same models in 32 and 16 bits on many GPUs" },
  solution = { precision = "bf16" },
  wrong = {
    { guess = 15, why = "That is the ratio of the peaks. Only products see it." },
    { guess = 2, why = "Half of the bits are half of the bytes; but products go to other, far quicker units." },
    { change = { precision = "tf32" }, why = "tf32 goes through the tensor cores too, with 32 bits in memory: half of the rate, and twice the bytes." },
  },
}
