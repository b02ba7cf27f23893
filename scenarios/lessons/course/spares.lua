local say = ...
return {
  title = "Machines that stand by",
  question = "Llama 2 70B is trained for weeks on 2,048 H100 in 256 machines. Each machine fails once in $mtbf hours, on average, and is a day in repair. "
    .. "The job needs all 256. $spares more machines stand by and take the place of those that fail; when none is left, everybody waits for a repair.",
  ask = "What percentage of the time is training (goodput)?",
  task = "Bring goodput to at least 92 %.",
  numbers = { mtbf = { 2000, 2200, 2500 }, spares = { 3, 4 } },
  settings = {
    { "spares", nil, "machines that stand by", 0, 32 },
    { "every", "30 min", "between checkpoints" },
    { "mtbf", nil, "hours between failures of one machine" },
  },
  change = { "spares", "every" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-h100", gpus = 2048, fabric = sim.rail_fat_tree { link = "ib-ndr400" }, storage = "superpod-storage",
                     faults = { node_mtbf = set.mtbf .. " h", repair = "24 h", spares = set.spares } },
  run = sim.training { model = "llama-2-70b", seq_len = 4096, tokens = "5T", batch = { micro = 1, global = 2048 }, zero = 1,
                       parallel = { tp = 4, pp = 4, vpp = 10, sequence_parallel = true }, checkpoint = { every = set.every } },
}]],
  guess = { unit = "%", most = 100, within = 0.06, answer = function(old) return 100 * old.goodput end },
  goal = function(new) return say.least("Goodput is", say.percent, new.goodput, 0.92) end,
  hints = {
    "How many machines are in repair at any time, on average?",
    "256 x 24 h / $mtbf h. As many spares as that are used up half of the time; chance asks for some more.",
    "spares = 24.",
  },
  notice = function(new, old)
    return ("Goodput %s, now %s. The average number in repair is not enough: what counts is how often more of them are."):format(
      say.percent(old.goodput), say.percent(new.goodput))
  end,
  formula = "machines in repair: Poisson with mean N x repair / MTBF; the job waits while they are more than the spares. Limits: failures in groups (a rack, a switch).",
  measured = { "goodput", "restarts in 60 days on 1024 A100", "OPT-175B's logbook" },
  solution = { spares = 24 },
  wrong = {
    { guess = 99, why = "With 256 machines, one fails every $mtbf / 256 hours." },
    { guess = 40, why = "Spares take most failures; it is when they are used up that the job waits." },
    { change = { every = "10 min" }, why = "Less is lost at each failure; the waiting for machines stays." },
    { change = { spares = 0 }, why = "Then every failure waits for a repair." },
  },
}
