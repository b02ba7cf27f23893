local say = ...
return {
  title = "Fewer cables upward",
  question = "512 H100 in 64 machines. Sixteen machines are cabled to one leaf switch. To save money a leaf has one cable up, to the other leaves, for every "
    .. "$oversubscription cables down, to its machines. Each GPU has $mib MiB, of which each of the 511 others gets its part: an all-to-all, as when tokens go "
    .. "to their experts. Each of the 511 messages costs some 4 us in addition to its bytes.",
  ask = "How many times as long does this take as with one cable up for each cable down?",
  task = "Bring it to at most 0.55 of its time.",
  numbers = { oversubscription = { 4, 6, 8 }, mib = { 64, 96 } },
  settings = {
    { "oversubscription", nil, "cables down for each one up" },
    { "shape", "fat_tree", "fat_tree, or rail_fat_tree: the i-th card of every machine on one leaf", of = { "fat_tree", "rail_fat_tree" } },
    { "mib", nil, "MiB of each GPU for all" },
  },
  change = { "oversubscription", "shape" },
  scenario = [[
local sim = require "lockstep"
return sim.program {
  title = "All to all",
  on = sim.cluster { node = "dgx-h100", gpus = 512,
                     fabric = sim[set.shape] { link = "ib-ndr400", oversubscription = set.oversubscription, nodes_per_leaf = 16 } },
  rank = function(r) r:all_to_all { bytes = set.mib * 1024 * 1024 } end,
}]],
  guess = {
    unit = "times", within = 0.3,
    answer = function(old, n, run) return old.step_time / run { oversubscription = 1 }.step_time end,
  },
  goal = function(new, old) return say.quicker(new, old, 0.55) end,
  hints = {
    "Three of four partners are on another leaf. How many cables of 50 GB/s lead there, and what do 511 messages cost on any?",
    "What leaves the leaf takes $oversubscription times as long, what stays does not; and even with all cables a network card is not always what is waited for.",
    "oversubscription = 1.",
  },
  notice = function(new, old)
    return ("%s, now %s. An all-reduce would not have noticed: a ring crosses each leaf's edge once. Networks are built for the traffic."):format(
      say.time(old.step_time), say.time(new.step_time))
  end,
  formula = "time >= bytes that leave a leaf / (its cables up x rate). Limits: hashes that collide take more (ECMP); placing a job on few leaves takes less.",
  measured = { "collectives-accuracy", "CoreWeave HGX A100", "collectives over trees of switches, measured with nccl-tests" },
  solution = { oversubscription = 1 },
  right = { {
    guess = function(old, n)                       -- 511 messages, and bytes over a cable of 50 GB/s a GPU
      local bytes = n.mib * 2 ^ 20 / 50e9
      return (511 * 4e-6 + 3 / 4 * n.oversubscription * bytes) / (511 * 4e-6 + 63 / 64 * bytes)
    end,
  } },
  wrong = {
    { guess = function(old, n) return 2 * n.oversubscription end, why = "Twice too much: it cannot be longer than all bytes through the fewer cables." },
    { guess = 1, why = "That is right for a ring." },
    { change = { shape = "rail_fat_tree" }, why = "With rails as many bytes go up." },
  },
}
