local say = ...
return {
  title = "How large is large",
  question = "Two machines with one GPU each add up $kib KiB over a 200 Gb/s cable. A cable is named by its rate, 25 GB/s; a small "
    .. "message does not see it.",
  ask = "What percentage of 25 GB/s does it attain (bytes / time)?",
  task = "Find a message of at most 64 MiB that attains at least 60 %.",
  numbers = { kib = { 32, 48, 64, 96, 128 } },
  settings = {
    { "kib", nil, "KiB to add up" },
    { "fabric", "ib-hdr200", "network between the machines" },
  },
  change = { "kib" },
  scenario = [[
local sim = require "lockstep"
return sim.program {
  title = "Two machines",
  on = sim.cluster { nodes = { { node = "dgx-a100", gpus = 1 }, { node = "dgx-a100", gpus = 1 } },
                     fabric = set.fabric, nics = 1 },
  rank = function(r) r:all_reduce { bytes = set.kib * 1024 } end,
}]],
  guess = { unit = "%", most = 100, within = 0.5, give = 2, answer = function(old, n) return n.kib * 1024 / old.step_time / 25e9 * 100 end },
  goal = function(new, old, set)
    if set.kib > 64 * 1024 then return "That is more than 64 MiB." end
    return say.least("Of the cable's rate it attains", say.percent, set.kib * 1024 / new.step_time / 25e9, 0.6)
  end,
  hints = {
    "The time has a part that does not depend on the size: starting, telling the other, a switch. What if it is longer than the bytes?",
    "At n_half = latency x bandwidth, half of the time is latency and half are bytes. Be well above it.",
    "kib = 65536: 64 MiB. From some MiB on the rate hardly grows.",
  },
  notice = function(new, old, n)
    return ("$kib KiB took %s; at the cable's rate they would take %s. That is why DDP joins small gradients into buckets, and why a bucket of 25 MiB is about the least."):format(
      say.time(old.step_time), say.time(n.kib * 1024 / 25e9))
  end,
  formula = "rate = bytes / (latency + bytes / bandwidth); half of it at bytes = latency x bandwidth. Limits: NCCL changes its protocol with size, so that there are several latencies.",
  measured = { "collectives-accuracy", "DGX A100 pod", "all-reduces from 8 B to 8 GiB, measured with nccl-tests" },
  solution = { kib = 65536 },
  wrong = {
    { guess = 100, why = "That is the name on the box. Look at how long the bytes alone would take: microseconds." },
    { change = { kib = 256 }, why = "Still more waiting than sending." },
    { change = { kib = 1048576 }, why = "That is more than 64 MiB: so large is not needed." },
  },
}
