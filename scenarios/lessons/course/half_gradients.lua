local say = ...
return {
  title = "Gradients in half the bytes",
  question = "GPT-2 (355 M) on two machines of eight A100, joined by one cable of $fabric. Gradients are added up in 32 bits on their way, four bytes for each of 355 "
    .. "million parameters.",
  ask = "How many times as long is a step as it would be with gradients in 16 bits?",
  task = "Bring the step to at most 0.65 of its time. Network and batch stay.",
  numbers = { fabric = { "eth-10g", "eth-25g", "eth-40g" }, micro = { 2, 3, 4 } },
  settings = {
    { "fp32_grad_reduce", true, "true: in 32 bits; false: in 16" },
    { "bucket", "25 MiB", "gradients that are exchanged in one go" },
    { "micro", nil, "sequences on each GPU" },
    { "fabric", nil, "network between the machines" },
  },
  change = { "fp32_grad_reduce", "bucket" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = 16, fabric = set.fabric, nics = 1 },
  run = sim.training { model = "gpt2-355m", seq_len = 1024, fp32_grad_reduce = set.fp32_grad_reduce, bucket = set.bucket,
                       batch = { micro = set.micro } },
}]],
  guess = {
    unit = "times", within = 0.15,
    answer = function(old, n, run) return old.step_time / run { fp32_grad_reduce = false }.step_time end,
  },
  goal = function(new, old) return say.quicker(new, old, 0.65) end,
  hints = {
    "Time on the cable is bytes over rate. Which of the two can be changed here?",
    "bf16 has the range of 32 bits and fewer digits: gradients survive it, sums of thousands of them less so.",
    "fp32_grad_reduce = false.",
  },
  notice = function(new, old)
    return ("A step took %s, and takes %s. Compression goes further (8 bits, the largest percent), and costs more in accuracy and in compute than it saves on a good network."):format(
      say.time(old.step_time), say.time(new.step_time))
  end,
  formula = "exchange = 2 (n - 1) / n x parameters x bytes each / bandwidth. Limits: only where the network is what one waits for.",
  measured = { "training-accuracy", "mosaicml-llm-foundry", "MPT on 8 to 512 GPUs, with gradients reduced in 16 or 32 bits" },
  solution = { fp32_grad_reduce = false },
  wrong = {
    { guess = 4, why = "Half of the bits are half of the bytes, not a quarter." },
    { guess = 1.1, why = "Over a good network it would be so. Here the exchange is nearly all of a step." },
    { change = { bucket = "100 MiB" }, why = "The bytes are the same, in larger pieces." },
  },
}
