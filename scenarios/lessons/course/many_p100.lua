local say = ...
return {
  title = "ImageNet in an hour, almost",
  question = "ResNet-50 with Horovod on $gpus P100 in machines of eight, 64 images on each in 32 bits, as many did in 2017. Each image costs as much on one GPU as on "
    .. "hundreds; only the exchange is new.",
  ask = "What percentage of so many times one GPU's throughput do they reach?",
  task = "With modern cards on the same cables (one of 25 Gb/s a machine): at least four times the throughput.",
  numbers = { gpus = { 64, 128, 256 } },
  settings = {
    { "node", "dgx-1-p100", "type of machine, of eight GPUs" },
    { "precision", "fp32", "fp32, tf32, amp", of = { "fp32", "tf32", "amp" } },
    { "micro", 64, "images on each GPU" },
    { "gpus", nil, "GPUs" },
  },
  change = { "node", "precision", "micro" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = set.node, gpus = set.gpus, fabric = set.gpus > 8 and "eth-25g" or nil, nics = set.gpus > 8 and 1 or nil },
  run = sim.training { model = "resnet-50", precision = set.precision, strategy = "horovod", batch = { micro = set.micro } },
}]],
  guess = {
    unit = "%", within = 0.12,
    answer = function(old, n, run) return 100 * old.samples_per_s / n.gpus / run { gpus = 1 }.samples_per_s end,
  },
  goal = function(new, old) return say.more(new, old, 4, "samples_per_s") end,
  hints = {
    "102 MB of gradients against 400 ms of compute, most of it hidden behind backward.",
    "Slow GPUs scale well. Make them ten times as quick on the same cable, and the exchange is what is left.",
    "node = \"dgx-h100\", precision = \"amp\", micro = 256: larger batches exchange less often.",
  },
  notice = function(new, old)
    return ("%s images a second, now %s; waiting for gradients went from %s of a step to %s. Efficiency in a table says as much of the GPU as of the network."):format(
      say.whole(old.samples_per_s), say.whole(new.samples_per_s), say.percent(say.share(old, "dp")), say.percent(say.share(new, "dp")))
  end,
  formula = "efficiency = C / (C + what of E is not hidden). Limits: the batch of all GPUs together must still learn (8,192 images in the hour of 2017).",
  measured = { "training-accuracy", "tf-benchmarks-2017", "ResNet-50 and others on P100 and K80, on up to 64 GPUs" },
  solution = { node = "dgx-h100", precision = "amp", micro = 256 },
  wrong = {
    { guess = 50, why = "Most of the exchange hides behind backward: compute is slow here." },
    { guess = 20, why = "That would be a tenth of the network." },
    { change = { precision = "tf32" }, why = "A P100 has no tensor cores." },
  },
}
