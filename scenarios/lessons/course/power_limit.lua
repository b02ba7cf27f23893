local say = ...
return {
  title = "A limit on watts",
  question = "Llama 3 8B on eight H100 of 700 W each. A GPU's power falls faster than its clock: the last few percent of speed take the most.",
  ask = "With a limit of 400 W: how many percent longer is a step?",
  task = "Bring the energy of the run to at most 0.9, with at most 1.25 times the days.",
  numbers = { micro = { 1, 2 }, tokens = { 4096, 8192 } },
  settings = {
    { "limit", "700 W", "power limit of each GPU" },
    { "precision", "bf16", "bf16 or fp16", of = { "bf16", "fp16" } },
    { "micro", nil, "sequences on each GPU" },
    { "tokens", nil, "tokens of a sequence" },
  },
  change = { "limit", "precision" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-h100", gpus = 8, power_cap = set.limit },
  run = sim.training { model = "llama-3-8b", seq_len = set.tokens, zero = 3, recompute = "full", precision = set.precision, tokens = "1B",
                       batch = { micro = set.micro, global = 32 } },
}]],
  guess = {
    unit = "%", within = 0.4,
    answer = function(old, n, run) return 100 * (run { limit = "400 W" }.step_time / old.step_time - 1) end,
  },
  goal = function(new, old)
    local soon = say.most("How many times as long it takes:", say.number, new.days / old.days, 1.25)
    return soon ~= true and soon or say.most("Of the energy it takes", say.percent, new.energy / old.energy, 0.9)
  end,
  hints = {
    "Power goes about with the third power of the clock, above what the card draws when idle.",
    "What waits for memory or the network does not notice the clock at all.",
    "limit = \"400 W\".",
  },
  notice = function(new, old)
    return ("%.1f kWh, now %.1f, for %s times the time. But the rest of the machine draws its watts longer: below some limit energy rises again."):format(
      old.energy, new.energy, say.number(new.days / old.days))
  end,
  formula = "energy = time x (GPU's watts + the rest's). Limits: rent is paid by the hour, and a slower run costs more of it.",
  measured = { "training-accuracy", "own-steps", "steps of one H100 without a limit; what a limit does was not measured" },
  solution = { limit = "400 W" },
  wrong = {
    { guess = 75, why = "That is if speed went with watts: 700 / 400." },
    { guess = 2, why = "The clock of matrix products falls by more than that." },
    { change = { limit = "650 W" }, why = "Hardly a limit." },
    { change = { limit = "300 W" }, why = "Less power, but more than 1.25 times the days." },
  },
}
