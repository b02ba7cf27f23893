local say = ...
return {
  title = "Hungry GPUs",
  question = "ResNet-50 on eight A100, $micro images on each. $workers loader processes a GPU decode JPEGs at 120 images a second each; a GPU that is fed in time trains somewhat over 1,000 of them.",
  ask = "What percentage of a step do GPUs wait for data?",
  task = "Bring it to at most 5 %.",
  numbers = { micro = { 96, 128 }, workers = { 3, 4, 5 } },
  settings = {
    { "workers", nil, "loader processes of each GPU; 128 cores for all", 1, 16 },
    { "storage", "local-nvme", "where the images lie" },
    { "micro", nil, "images on each GPU" },
  },
  change = { "workers", "storage" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = 8 },
  run = sim.training { model = "resnet-50", batch = { micro = set.micro },
    data = { storage = set.storage, sample_bytes = "110 kB", workers = set.workers, samples_per_second_per_worker = 120 } },
}]],
  guess = { unit = "%", most = 100, within = 0.2, answer = function(old) return 100 * say.share(old, "data") end },
  goal = function(new)
    return say.most("Of a step they wait for", say.percent, say.share(new, "data"), 0.05)
  end,
  hints = {
    "How many images a second does a GPU want, and how many do its loaders give?",
    "Each loader more is 120 images a second more, until the GPU is what one waits for.",
    "workers = 16.",
  },
  notice = function(new, old)
    return ("%s images a second, and %s now. A GPU that waits for data looks busy to no one but its bill: look at this row first."):format(
      say.whole(old.samples_per_s), say.whole(new.samples_per_s))
  end,
  formula = "rate = min(GPU's, workers x 120, storage's / bytes), and some 8 % less for eight GPUs, whose steps wait for the slowest of them. Limits: a machine has so many cores; decoding on the GPU (DALI) takes some of its time.",
  measured = { "training-accuracy", "tf-benchmarks-2017", "image networks with real and with synthetic images" },
  solution = { workers = 16 },
  right = { { guess = function(old, n) return 100 * (1 - n.workers * 120 / 1050) end }, { change = { workers = 12 } } },
  wrong = {
    { guess = 10, why = "A few hundred images a second against well over a thousand." },
    { change = { storage = "local-nvme-raid" }, why = "The bytes were there in time; they were not decoded." },
    { change = { workers = 8 }, why = "Nearer, but eight loaders give still too few." },
  },
}
