local say = ...
return {
  title = "The file server",
  question = "ResNet-50 on eight A100, sixteen loader processes a GPU, the images of $kb kB each on an NFS server behind 1 Gb/s.",
  ask = "How many images a second are trained, by all eight GPUs together?",
  task = "Train at least six times as many.",
  numbers = { kb = { 90, 100, 110, 125, 140 } },
  settings = {
    { "storage", "nfs-1gbe", "where the images lie (lockstep hw list storage)" },
    { "workers", 16, "loader processes of each GPU", 1, 64 },
    { "kb", nil, "kB of an image" },
  },
  change = { "storage", "workers" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = 8, storage = set.storage },
  run = sim.training { model = "resnet-50", batch = { micro = 128 },
    data = { storage = set.storage, sample_bytes = set.kb .. " kB", workers = set.workers, samples_per_second_per_worker = 120 } },
}]],
  guess = { unit = "images/s", within = 0.25, answer = function(old) return old.samples_per_s end },
  goal = function(new, old) return say.more(new, old, 6, "samples_per_s") end,
  hints = {
    "Bytes in a second over bytes of an image.",
    "1 Gb/s is 125 MB/s, a little less arrives. All GPUs share it.",
    "storage = \"local-nvme\": copy the images into each machine first. A server on 10 Gb/s is eight times quicker at most.",
  },
  notice = function(new, old, n, set)
    return ("%s images a second are %.0f MB/s: the cable. From %s: %s."):format(
      say.whole(old.samples_per_s), old.samples_per_s * n.kb * 1e3 / 1e6, set.storage, say.whole(new.samples_per_s))
  end,
  formula = "rate <= storage's bytes a second / bytes of a sample. Limits: memory caches what was read before; small files cost round trips too.",
  measured = { "training-accuracy", "tf-benchmarks-2017", "image networks with real and with synthetic images" },
  solution = { storage = "local-nvme" },
  wrong = {
    { guess = 11000, why = "That is what eight A100 would train if they were fed." },
    { guess = function(old, n) return 8 * 125e3 / n.kb end, why = "All eight share the one cable." },
    { change = { workers = 64 }, why = "More processes wait for the same cable." },
    { change = { storage = "nfs-2.5gbe" }, why = "Two and a half times the cable." },
  },
}
