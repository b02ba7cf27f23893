local say = ...
return {
  title = "Saved too seldom",
  question = "Llama 2 70B for weeks on 2,048 H100 that fail as often as Llama 3's, of which 16,384 stopped about every three hours. A checkpoint is written every $hours hours; when a machine fails, all "
    .. "that was trained since the last one is lost.",
  ask = "What percentage of the time is training in the end (goodput)?",
  task = "Bring goodput to at least 95 %.",
  numbers = { hours = { 8, 10, 12, 14, 16 } },
  settings = {
    { "every", "$hours h", "between checkpoints" },
    { "spares", 4, "machines that stand by" },
  },
  change = { "every", "spares" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-h100", gpus = 2048, fabric = sim.rail_fat_tree { link = "ib-ndr400" }, storage = "superpod-storage",
                     faults = { rates = "llama3-h100", spares = set.spares } },
  run = sim.training { model = "llama-2-70b", seq_len = 4096, tokens = "5T", batch = { micro = 1, global = 2048 }, zero = 1,
                       parallel = { tp = 4, pp = 4, vpp = 10, sequence_parallel = true }, checkpoint = { every = set.every } },
}]],
  guess = { unit = "%", most = 100, within = 0.08, answer = function(old) return 100 * old.goodput end },
  goal = function(new) return say.least("Goodput is", say.percent, new.goodput, 0.95) end,
  hints = {
    "How often does any of 256 machines fail? How much is lost each time, on average?",
    "Half an interval is lost at each failure. Against that stands the time to write. Young (1974): interval = sqrt(2 x time to write x time between failures).",
    "every = \"30 min\".",
  },
  notice = function(new, old)
    return ("%s of the time was training, now %s: %s became %s."):format(
      say.percent(old.goodput), say.percent(new.goodput), say.days(old.days), say.days(new.days))
  end,
  formula = "loss = w / T + T / (2 M) + restart / M, least at T = sqrt(2 w M). Limits: writing beside training (async) makes w nearly nothing.",
  measured = { "goodput", "effective training time of these 54 days", "Llama 3's fleet, whose failures were counted" },
  solution = { every = "30 min" },
  wrong = {
    { guess = 99, why = "That is for a machine that hardly ever fails. Here one of 256 does several times a week." },
    { guess = 50, why = "Then half of the time would be lost: an interval as long as the time between failures." },
    { change = { spares = 32 }, why = "There were spares enough; what was lost had not been saved." },
  },
}
