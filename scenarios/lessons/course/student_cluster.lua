local say = ...
return {
  title = "Why four GPUs are slower than two",
  question = "A student report: ResNet-152 with DDP on two PCs with one RTX 3060 each and one with two RTX 4080, joined by an office LAN of $lan. With 256 images on each, the two "
    .. "4080 alone took 80 s, all four 548 s. (Image size and host work are as the example student_cluster.lua fits them.)",
  ask = "What percentage of a step do the four wait for gradients?",
  task = "Train at least four times as many images a second with the cards that are there.",
  numbers = { lan = { "eth-1g" }, batch = { 192, 224, 256 } },
  settings = {
    { "cards", "all", "all four, or pair: the two 4080 alone", of = { "all", "pair" } },
    { "lan", nil, "network between the PCs" },
    { "batch", nil, "images on each GPU" },
  },
  change = { "cards" },
  scenario = [[
local sim = require "lockstep"
local pair = { node = "rtx4080x2-workstation", gpus = 2, pcie = "3 GB/s" }
local nodes = set.cards == "all" and { { node = "rtx3060-workstation", gpus = 2 }, pair } or { pair }
return sim.study {
  on = sim.cluster { fabric = sim.single_switch { link = set.lan }, nodes = nodes },
  run = sim.training { model = sim.model.resnet { depth = 152, image_size = 64, classes = 10 }, batch = { micro = set.batch },
    precision = "tf32", framework = "eager", optimizer = "sgd", cpu_per_step = "48 ms" },
}]],
  guess = { unit = "%", most = 100, within = 0.12, answer = function(old) return 100 * say.share(old, "dp") end },
  goal = function(new, old) return say.more(new, old, 4, "samples_per_s") end,
  hints = {
    "ResNet-152 has 58 million weights. How many bytes of gradients are that, and how long does 1 Gb/s take for them?",
    "Twice 232 MB over 117 MB/s is seconds; a step of compute is a few tenths.",
    "cards = \"pair\".",
  },
  notice = function(new, old)
    return ("%s images a second with four, %s with two. The report measured the same: 548 s and 80 s."):format(say.whole(old.samples_per_s), say.whole(new.samples_per_s))
  end,
  formula = "step = compute + 2 (n - 1) / n x bytes / rate of the LAN, as long as nothing hides it. Limits: a 10 Gb/s LAN helps, until the slower cards are what one waits for.",
  measured = { "training-accuracy", "servergear-rtx4090", "image networks on 1 to 4 RTX 4090" },
  solution = { cards = "pair" },
  wrong = {
    { guess = 50, why = "Work it out: seconds on the cable against tenths of compute." },
    { guess = 20, why = "That is inside one machine." },
    { change = { lan = "eth-10g" }, why = "With the cards that are there, and the cables." },
  },
}
