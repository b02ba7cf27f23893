local say = ...
return {
  title = "The favourite expert",
  question = "Mixtral 8x7B on 64 H100, its eight experts on eight GPUs. Tokens choose their experts, and choose unevenly: the k-th most "
    .. "chosen gets a share like 1 / k^$skew. All wait for the GPU whose expert has most to do.",
  ask = "How many times as long is a step as with even shares?",
  task = "Bring the step to at most 0.75 of its time. A router's loss, or a limit on each expert, is allowed.",
  numbers = { skew = { 0.5, 0.6, 0.7, 0.8, 1 } },
  settings = {
    { "skew", nil, "0: even shares" },
    { "fabric", "ib-ndr400", "network between machines" },
    { "gpus", 64, "GPUs" },
  },
  change = { "skew", "fabric" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-h100", gpus = set.gpus, fabric = set.fabric },
  run = sim.training { model = "mixtral-8x7b", seq_len = 4096, zero = 1, expert_skew = set.skew, recompute = "full",
                       parallel = { tp = 2, ep = 8 }, batch = { micro = 1 } },
}]],
  guess = { unit = "times", within = 0.25, answer = function(old, n, run) return old.step_time / run { skew = 0 }.step_time end },
  goal = function(new, old) return say.quicker(new, old, 0.75) end,
  hints = {
    "How many tokens does the first of eight experts get, against an eighth?",
    "All-to-all, experts, all-to-all: each part is as slow as its fullest GPU, and so is every layer.",
    "skew = 0: a balancing loss in training drives the router there.",
  },
  notice = function(new, old)
    return ("Waiting for experts was %s of a step, now %s. %s became %s. Capacity limits do it by dropping tokens, balancing by training the router."):format(
      say.percent(say.share(old, "ep")), say.percent(say.share(new, "ep")), say.time(old.step_time), say.time(new.step_time))
  end,
  formula = "time of the experts = tokens of the fullest / rate. Limits: several experts on a GPU even out; the router differs by layer.",
  measured = { "training-accuracy", "dgxc-moe", "mixtures of experts on H100 and GB200; their skew was not measured" },
  solution = { skew = 0 },
  wrong = {
    { guess = 1, why = "The average GPU has the same work; but nobody waits for the average." },
    { guess = 8, why = "That is if one expert got everything." },
    { change = { fabric = "ib-xdr800" }, why = "The fullest GPU computes as long on any network." },
  },
}
