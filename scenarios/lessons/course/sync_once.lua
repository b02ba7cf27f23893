local say = ...
return {
  title = "Exchanged too often",
  question = "GPT-2 (355 M) adds up the gradients of $accumulation micro-batches before the optimizer changes the parameters, on two machines with one cable of 25 Gb/s. "
    .. "The loop was copied from an example: DDP exchanges gradients after every micro-batch, and not once a step.",
  ask = "How many times as long is a step as with one exchange?",
  task = "Have gradients exchanged once a step.",
  numbers = { accumulation = { 4, 6, 8, 12, 16 } },
  settings = {
    { "no_sync", false, "true: only the last micro-batch's backward exchanges" },
    { "bucket", "25 MiB", "gradients that are exchanged in one go" },
    { "accumulation", nil, "micro-batches of a step" },
  },
  change = { "no_sync", "bucket" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = 16, fabric = "eth-25g", nics = 1 },
  run = sim.training { model = "gpt2-355m", seq_len = 1024, no_sync = set.no_sync, bucket = set.bucket,
                       batch = { micro = 2, accumulation = set.accumulation } },
}]],
  guess = { unit = "times", within = 0.3, answer = function(old, n, run) return old.step_time / run { no_sync = true }.step_time end },
  goal = function(new, old) return say.quicker(new, old, 0.5) end,
  hints = {
    "Gradients of a step are a sum. Does it matter whether sums are exchanged, or a sum of sums?",
    "model.no_sync() around all but the last backward leaves gradients where they are.",
    "no_sync = true.",
  },
  notice = function(new, old)
    return ("%s became %s, and the numbers that come out are the same. The exchange was %s of a step, now %s."):format(
      say.time(old.step_time), say.time(new.step_time), say.percent(say.share(old, "dp")), say.percent(say.share(new, "dp")))
  end,
  formula = "step = a x (C + E) against a x C + E. Limits: with FSDP, gradients that are not scattered stay whole on each GPU.",
  measured = { "training-accuracy", "ds3lab-megatron-1gpu-nodes", "accumulated steps over Ethernet of up to 10 Gb/s" },
  solution = { no_sync = true },
  wrong = {
    { guess = function(old, n) return n.accumulation end, why = "As many exchanges, but compute is in the step too." },
    { guess = 1.1, why = "Over this cable an exchange takes far longer than a micro-batch." },
    { change = { bucket = "1 MiB" }, why = "As many exchanges, in other pieces." },
  },
}
