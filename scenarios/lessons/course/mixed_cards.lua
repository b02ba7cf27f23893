local say = ...
return {
  title = "Mixed cards",
  question = "Somebody has eight A100 and eight H100, and trains GPT-2 (1.5 B) on all sixteen, $micro sequence(s) on each. Each GPU gets the same batch.",
  ask = "What percentage of a step do GPUs wait for gradients, on average over all sixteen?",
  task = "Train more tokens a second than these sixteen do, without buying anything.",
  numbers = { micro = { 8, 9, 10, 12 } },
  settings = {
    { "a100s", 8, "A100 that take part", 0, 8 },
    { "h100s", 8, "H100 that take part", 0, 8 },
    { "fabric", "ib-hdr200", "network between the machines" },
    { "micro", nil, "sequences on each GPU" },
  },
  change = { "a100s", "h100s", "fabric" },
  scenario = [[
local sim = require "lockstep"
local nodes = {}
if set.a100s > 0 then nodes[#nodes + 1] = { node = "dgx-a100", gpus = set.a100s } end
if set.h100s > 0 then nodes[#nodes + 1] = { node = "dgx-h100", gpus = set.h100s } end
return sim.study {
  on = sim.cluster { nodes = nodes, fabric = set.fabric },
  run = sim.training { model = "gpt2-1.5b", seq_len = 1024, zero = 1, batch = { micro = set.micro } },
}]],
  guess = { unit = "%", most = 100, within = 0.35, answer = function(old) return 100 * say.share(old, "dp") end },
  goal = function(new, old) return say.more(new, old, 1.02, "tokens_per_s") end,
  hints = {
    "When is the H100 through with its batch, and when the A100?",
    "All sixteen go at the pace of the A100: it is a machine of sixteen A100. How fast are eight H100?",
    "a100s = 0.",
  },
  notice = function(new, old)
    return ("Sixteen mixed: %s tokens a second. Eight H100: %s. If one must mix, the quick cards need a larger batch than the slow ones."):format(
      say.whole(old.tokens_per_s), say.whole(new.tokens_per_s))
  end,
  formula = "throughput = GPUs x rate of the slowest, as long as each gets the same batch. Limits: batches in proportion to speed give the sum of rates.",
  measured = { "training-accuracy", "lambda-deeplearning-benchmark", "the same models on one kind of card after the other; a mix was not measured" },
  solution = { a100s = 0 },
  wrong = {
    { guess = 4, why = "That is for cards that are alike." },
    { guess = 60, why = "Half of the GPUs, the quick ones, wait; the slow ones do not." },
    { change = { a100s = 0, h100s = 0 }, why = "Then no GPU takes part." },
    { change = { h100s = 0 }, why = "These were the slow ones." },
    { change = { fabric = "ib-ndr400" }, why = "They wait for a card, not for the network." },
  },
}
