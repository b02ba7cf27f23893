local say = ...
return {
  title = "Small messages pay by the step",
  question = "$gpus machines with one GPU each add up $kib KiB, so little that a 200 Gb/s cable moves it in a few "
    .. "microseconds. They do it in a ring, as large messages are best added up: 2 (n - 1) steps, one after the other.",
  ask = "What do they wait for: the cable's \"rate\", or the number of \"steps\"?",
  task = "Make it at least three times as quick by another algorithm.",
  numbers = { gpus = { 32, 64 }, kib = { 16, 32, 64 } },
  settings = {
    { "algorithm", "ring", "ring, tree, halving_doubling, recursive_doubling", of = { "ring", "tree", "halving_doubling", "recursive_doubling" } },
    { "fabric", "ib-hdr200", "network between the machines" },
    { "gpus", nil, "machines of one GPU each" },
    { "kib", nil, "KiB on each" },
  },
  change = { "algorithm", "fabric" },
  scenario = [[
local sim = require "lockstep"
local nodes = {}
for i = 1, set.gpus do nodes[i] = { node = "dgx-a100", gpus = 1 } end
return sim.program {
  title = "A small all-reduce", fidelity = "flow", backend = "mpi", tensors = "cpu",
  on = sim.cluster { nodes = nodes, fabric = set.fabric, nics = 1 },
  rank = function(r) r:all_reduce { bytes = set.kib * 1024, algorithm = set.algorithm } end,
}]],
  guess = {
    choices = { "rate", "steps" },
    answer = function(old, n, run)
      return run { fabric = "ib-ndr400" }.step_time > 0.8 * old.step_time and "steps" or "rate"
    end,
  },
  goal = function(new, old) return say.quicker(new, old, 1 / 3) end,
  hints = {
    "A message takes a latency, whatever its size, and then its bytes. Which of the two is more here?",
    "Steps that double the distance each time reach n machines in log2(n) of them; a ring needs n - 1. Some ways go there and back.",
    "algorithm = \"recursive_doubling\": every machine swaps all bytes with a partner, log2($gpus) times. \"halving_doubling\" and \"tree\" solve it too, in twice as many steps.",
  },
  notice = function(new, old, n, set)
    local doublings = math.log(n.gpus, 2) // 1
    local how = ({
      recursive_doubling = ("log2(%d) = %d steps of all bytes each, so that more are sent"):format(n.gpus, doublings),
      halving_doubling = ("2 log2(%d) = %d steps, with no more bytes than the ring sends"):format(n.gpus, 2 * doublings),
      tree = ("2 log2(%d) = %d steps, up two trees of half the bytes each and down again"):format(n.gpus, 2 * doublings),
    })[set.algorithm]
    return ("%d steps took %s. Now it is %s: %s. Libraries choose among them by size."):format(
      2 * (n.gpus - 1), say.time(old.step_time), how, say.time(new.step_time))
  end,
  formula = "ring: 2 (n - 1) latency + 2 (n - 1) / n bytes / bandwidth; recursive doubling: log2(n) (latency + bytes / bandwidth). Limits: n a power of two, one message at a time on each cable.",
  measured = { "collectives-accuracy", "DGX A100 pod", "all-reduces from 8 B on, measured with nccl-tests" },
  solution = { algorithm = "recursive_doubling" },
  right = { { change = { algorithm = "tree" } }, { change = { algorithm = "halving_doubling" } } },
  wrong = {
    { guess = "rate", why = "With a cable of twice the rate it takes nearly as long: the bytes are a small part of each step." },
    { change = { fabric = "ib-ndr400" }, why = "The cable is twice as quick, and the answer hardly moves: each of the steps waits for a latency." },
  },
}
