local say = ...
return {
  title = "What a ring moves",
  question = "$gpus machines with one GPU each add up $mib MiB of gradients over 100 Gb/s cables, in a ring: each sends a "
    .. "piece to the next, again and again, until all have the sum. A cable at its best moves 12.5 GB in a second.",
  ask = "How many milliseconds does the all-reduce take?",
  task = "Make it take at most 0.6 of that time with another network. More bytes or fewer machines do not count.",
  numbers = { gpus = { 8, 16, 32 }, mib = { 256, 512, 1024 } },
  settings = {
    { "fabric", "ib-edr100", "network between the machines (lockstep hw list fabric)" },
    { "gpus", nil, "machines of one GPU each" },
    { "mib", nil, "MiB of gradients on each" },
  },
  change = { "fabric" },
  scenario = [[
local sim = require "lockstep"
local nodes = {}
for i = 1, set.gpus do nodes[i] = { node = "dgx-a100", gpus = 1 } end
return sim.program {
  title = "A ring of machines", fidelity = "flow",
  on = sim.cluster { nodes = nodes, fabric = set.fabric, nics = 1 },
  rank = function(r) r:all_reduce { bytes = set.mib * 1024 * 1024, algorithm = "ring" } end,
}]],
  guess = { unit = "ms", within = 0.3, answer = function(old) return old.step_time * 1e3 end },
  goal = function(new, old) return say.quicker(new, old, 0.6) end,
  hints = {
    "In a ring every machine sends and receives at the same time, and only to its neighbours. Count what one machine sends.",
    "The bytes are cut into as many pieces as there are machines. n - 1 steps add the pieces up, n - 1 more hand the sums round: 2 (n - 1) / n of the bytes leave every machine.",
    "Twice the bytes, nearly, over one cable: 2 x $mib MiB / 12.5 GB/s. Any network of at least twice the rate solves it: fabric = \"ib-hdr200\".",
  },
  notice = function(new, old, n)
    return ("It took %s, and takes %s now. The number of machines hardly matters: with $gpus each sends %.3g times the bytes, with a thousand it would be 2 times. What they wait for is the cable."):format(
      say.time(old.step_time), say.time(new.step_time), 2 * (n.gpus - 1) / n.gpus)
  end,
  formula = "time = 2 (n - 1) / n x bytes / bandwidth + 2 (n - 1) x latency. Limits: one cable a machine, no other traffic; for small messages the second term is all of it.",
  measured = { "collectives-accuracy", "DGX A100 pod", "all-reduces over InfiniBand, measured with nccl-tests" },
  solution = { fabric = "ib-hdr200" },
  right = {
    { guess = function(old, n) return 2 * (n.gpus - 1) / n.gpus * n.mib * 1.048576 / 12.5 end },
    { change = { fabric = "ib-ndr400" } },
  },
  wrong = {
    { guess = function(old, n) return n.mib * 1.048576 / 12.5 end, why = "That is the bytes once over a cable. A ring sends them nearly twice: once to add up, once to hand the sums round." },
    { guess = function(old, n) return n.gpus * n.mib * 1.048576 / 12.5 end, why = "That is all bytes through one cable. In a ring all cables work at the same time." },
    { change = { fabric = "eth-25g" }, why = "25 Gb/s is a quarter of what was there." },
  },
}
