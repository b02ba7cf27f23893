local say = ...
return {
  title = "As quick as the slowest link",
  question = "Sixteen GPUs in two machines add up $mib MiB. Inside a machine each GPU has 300 GB/s of NVLink. Between the two "
    .. "there is $nics network card of 100 Gb/s a machine.",
  ask = "How many times as long does it take as the same all-reduce among the eight GPUs of one machine?",
  task = "Bring it to about a quarter: at most 0.27 of its time. The kind of network stays.",
  numbers = { mib = { 512, 768, 1024, 1536, 2048 }, nics = { 1 } },
  settings = {
    { "nics", nil, "network cards of a machine on this network", 1, 8 },
    { "fabric", "ib-hdr100", "network between machines" },
    { "gpus", 16, "GPUs, eight in a machine" },
    { "mib", nil, "MiB on each GPU" },
  },
  change = { "nics" },
  scenario = [[
local sim = require "lockstep"
return sim.program {
  title = "An all-reduce over two machines",
  on = sim.cluster { node = "dgx-a100", gpus = set.gpus, fabric = set.fabric, nics = set.nics },
  rank = function(r) r:all_reduce { bytes = set.mib * 1024 * 1024 } end,
}]],
  guess = {
    unit = "times", within = 0.4,
    answer = function(old, n, run) return old.step_time / run { gpus = 8 }.step_time end,
  },
  goal = function(new, old) return say.quicker(new, old, 0.27) end,
  hints = {
    "Every byte that one machine knows and the other does not must cross the cable between them.",
    "Of what a machine has added up inside, all bytes go out over its cable once and as many come in: $mib MiB at 12.5 GB/s. Among eight GPUs inside, 2 x 7 / 8 of them go over some 230 GB/s.",
    "nics = 4, or 8: as many cables as GPUs, and NCCL builds as many rings.",
  },
  notice = function(new, old, n)
    return ("%s with one card, %s now. Machines for training have a network card for each GPU: it is not luxury, it is the slowest link."):format(
      say.time(old.step_time), say.time(new.step_time))
  end,
  formula = "time = 2 (m - 1) / m x bytes / (cards x rate of one), with m machines. Limits: until the cards together are as quick as NVLink; large messages.",
  measured = { "collectives-accuracy", "DGX A100 pod", "all-reduces over 1 to 8 network cards a machine, measured with nccl-tests" },
  solution = { nics = 8 },
  right = { { change = { nics = 4 } } },
  wrong = {
    { guess = 2, why = "Twice as many GPUs do not make it twice as long: in a ring each sends nearly the same. The road is what changes." },
    { guess = 1, why = "A ring does not care how many take part, but it is as quick as its slowest link." },
    { change = { nics = 3 }, why = "Eight GPUs do not spread evenly over three cards: it takes as long as with two." },
    { change = { nics = 2 }, why = "Twice the cards are about half the time: not yet a quarter." },
  },
}
