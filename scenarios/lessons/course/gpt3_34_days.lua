local say = ...
return {
  title = "GPT-3 in a month",
  question = "Narayanan et al. (2021) say that GPT-3 (175 B) on 300 billion tokens takes 34 days on 1,024 A100: batch 1,536, tensor parallel 8, everything "
    .. "recomputed. Work it out: 8 FLOP for each parameter and token with recomputation, 312 TFLOP/s a GPU at best.",
  ask = "How many days does the simulation say?",
  task = "Do it in at most 0.8 of that: what was known a year later.",
  numbers = { pp = { 8, 16 } },
  settings = {
    { "recompute", "full", "none, selective, full" },
    { "sequence_parallel", false, "true: norms and dropouts are cut by tokens too" },
    { "pp", nil, "stages of the pipeline" },
  },
  change = { "recompute", "sequence_parallel" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = 1024, fabric = sim.rail_fat_tree { link = "ib-hdr200" } },
  run = sim.training { model = "gpt3-175b", seq_len = 2048, tokens = "300B", batch = { global = 1536, micro = 1 }, precision = "fp16",
    parallel = { tp = 8, pp = set.pp, sequence_parallel = set.sequence_parallel }, framework = "megatron", attention = "plain",
    recompute = set.recompute },
  published = { { days = 34, source = "Narayanan et al. 2021, section 5.1" } },
}]],
  guess = { unit = "days", within = 0.15, answer = function(old) return old.days end },
  goal = function(new, old)
    return say.most(("It took %s, and takes"):format(say.days(old.days)), say.days, new.days, 0.8 * old.days)
  end,
  hints = {
    "FLOP over FLOP/s, and then: what share of the peak is attained?",
    "8 x 175e9 x 300e9 / (1,024 x 312e12) are 15 days at the peak. Good runs attain 45 % of it.",
    "recompute = \"selective\", sequence_parallel = true.",
  },
  notice = function(new, old)
    return ("%s simulated, 34 published; now %s. MFU went from %s to %s."):format(say.days(old.days), say.days(new.days), say.percent(old.mfu), say.percent(new.mfu))
  end,
  formula = "days = 8 T P / (n x FLOP/s attained), 6 in place of 8 without recomputation. Limits: failures and restarts come on top.",
  measured = { "training-accuracy", "megatron-sc21-weak", "the paper's runs on 64 to 3,072 A100" },
  solution = { recompute = "selective", sequence_parallel = true },
  wrong = {
    { guess = 15, why = "That is at the peak. Nobody attains it." },
    { guess = 90, why = "That would be a sixth of the peak." },
    { change = { sequence_parallel = true }, why = "Recomputing every layer is what costs most." },
  },
}
