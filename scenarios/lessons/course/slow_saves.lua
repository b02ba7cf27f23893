local say = ...
return {
  title = "Saved too slowly",
  question = "Llama 2 70B for weeks on 2,048 H100 and a small storage ($storage, 5 GB/s): a checkpoint of 70 billion weights and their optimizer is about a terabyte, and training stands still while it "
    .. "is written, every $minutes minutes.",
  ask = "What percentage of the time is training (goodput)?",
  task = "Bring goodput to at least 93 %, on the same storage.",
  numbers = { storage = { "lustre-small" }, minutes = { 10, 12, 15 } },
  settings = {
    { "mode", "sync", "sync: training stands still; async: it is copied to host memory, and written beside training", of = { "sync", "async" } },
    { "every", "$minutes min", "between checkpoints" },
    { "storage", nil, "where checkpoints are written" },
  },
  change = { "mode", "every" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-h100", gpus = 2048, fabric = sim.rail_fat_tree { link = "ib-ndr400" }, storage = set.storage,
                     faults = { rates = "llama3-h100", spares = 4 } },
  run = sim.training { model = "llama-2-70b", seq_len = 4096, tokens = "5T", batch = { micro = 1, global = 2048 }, zero = 1,
                       parallel = { tp = 4, pp = 4, vpp = 10, sequence_parallel = true },
                       checkpoint = { every = set.every, mode = set.mode } },
}]],
  guess = { unit = "%", most = 100, within = 0.1, answer = function(old) return 100 * old.goodput end },
  goal = function(new) return say.least("Goodput is", say.percent, new.goodput, 0.93) end,
  hints = {
    "How long does a terabyte take? What part of every interval is that?",
    "A copy into host memory takes seconds. From there it can be written while training goes on, as long as one is through before the next.",
    "mode = \"async\".",
  },
  notice = function(new, old)
    return ("%s of the time was training, now %s: the same bytes over the same storage, hidden. With sync the best interval would be longer, and more would be lost at each failure."):format(
      say.percent(old.goodput), say.percent(new.goodput))
  end,
  formula = "loss of sync = w / T; of async = copy / T. Limits: host memory for the copy; w < T.",
  measured = { "goodput", "effective training time of these 54 days", "Llama 3's fleet, whose failures were counted" },
  solution = { mode = "async" },
  right = { { guess = function(old, n) return 100 * n.minutes / (n.minutes + 980 / 5 / 60) end } },
  wrong = {
    { guess = 99, why = "Each checkpoint stops 2,048 GPUs for as long as it is written." },
    { guess = 50, why = "So slow it is not." },
    { change = { every = "1 min" }, why = "Then it is written all the time." },
    { change = { every = "24 h" }, why = "Hardly any time for writing, but a failure costs half a day." },
  },
}
