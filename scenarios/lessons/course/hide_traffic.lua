local say = ...
return {
  title = "Traffic behind compute",
  question = "Backward takes 60 ms and leaves $mb MB of gradients. $gpus GPUs must add them up, eight in each machine, and a machine has one network card of "
    .. "100 Gb/s. Today they wait until backward is done, and then add up all gradients at once. But the gradients of the last layers are ready long "
    .. "before those of the first layers.",
  ask = "How many milliseconds does the all-reduce alone take?",
  task = "Cut the gradients into buckets. Each is added up as soon as it is ready, while backward goes on. GPUs may still wait for at most 40 % of that time.",
  numbers = { mb = { 300, 330, 360, 400, 430 }, gpus = { 16 } },
  settings = {
    { "buckets", 1, "pieces that the gradients are reduced in", 1, 64 },
    { "gpus", nil, "GPUs, eight in a machine" },
    { "fabric", "roce-100", "network between machines" },
  },
  change = { "buckets" },
  scenario = [[
local sim = require "lockstep"
local gradients, backward = $mb * 1e6, 0.060
return sim.program {
  title = "Buckets", on = sim.cluster { node = "dgx-a100", gpus = set.gpus, fabric = set.fabric, nics = 1 },
  rank = function(r)
    local comm = r:stream "comm"
    for b = 1, set.buckets do
      r:compute { seconds = backward / set.buckets, name = "backward " .. b }
      r:record("ready " .. b)
      comm:wait("ready " .. b)
      comm:all_reduce { bytes = gradients / set.buckets, name = "bucket " .. b }
    end
    comm:record "reduced"
    r:wait "reduced"
  end,
}]],
  guess = { unit = "ms", within = 0.35, answer = function(old) return (old.step_time - 0.060) * 1e3 end },
  goal = function(new, old)
    local before, now = old.step_time - 0.060, new.step_time - 0.060
    return say.most(("Of %s of all-reduce are still waited for"):format(say.time(before)), say.time, now, 0.4 * before)
  end,
  hints = {
    "The guess: machines add up inside, then all bytes go out over a machine's cable once, and as many come in. And what travels while something computes costs no time. What part of the gradients cannot travel while backward computes?",
    "Only the last bucket must wait for the end of backward. The more buckets, the less is left; but each pays a latency.",
    "buckets = 8 will do.",
  },
  notice = function(new, old)
    return ("The step took %s, and takes %s: the same bytes over the same cable, hidden. PyTorch's buckets are 25 MiB, for this reason."):format(
      say.time(old.step_time), say.time(new.step_time))
  end,
  formula = "all traffic = 2 (m - 1) / m x bytes / rate of a machine's card, with m machines; exposed = max(last bucket, all traffic - (b - 1) / b x backward). Limits: traffic takes no time from compute here; on a GPU it takes some of its cores and memory.",
  measured = { "training-accuracy", "dlperf-v1", "data-parallel training, much of it over one 100 Gb/s card a machine" },
  solution = { buckets = 8 },
  right = { { guess = function(old, n) return n.mb / 12.5 end }, { change = { buckets = 4 } } },
  wrong = {
    { guess = 60, why = "That is backward." },
    { guess = function(old, n) return 2 * 15 / 16 * n.mb / 12.5 end, why = "A ring of sixteen machines would send every byte nearly twice. These are two: NVLink carries the rest, and each byte crosses the cable once." },
    { change = { buckets = 2 }, why = "Half of the gradients still wait for the end." },
  },
}
