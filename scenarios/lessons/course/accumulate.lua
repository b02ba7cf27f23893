local say = ...
return {
  title = "Exchange less often",
  question = "GPT-2 (355 M) on two machines of eight A100, joined by one cable of $fabric. After every micro-batch of $micro sequence(s) "
    .. "all gradients are exchanged.",
  ask = "What percentage of a step waits for the exchange?",
  task = "Train at least four times as many tokens a second over the same cable.",
  numbers = { fabric = { "eth-10g", "eth-25g" }, micro = { 3, 4 } },
  settings = {
    { "accumulation", 1, "micro-batches whose gradients are added up before they are exchanged", 1, 64 },
    { "fabric", nil, "network between the machines" },
    { "micro", nil, "sequences of a micro-batch" },
    { "gpus", 16, "GPUs" },
  },
  change = { "accumulation" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-a100", gpus = set.gpus, fabric = set.fabric, nics = 1 },
  run = sim.training { model = "gpt2-355m", seq_len = 1024, batch = { micro = set.micro, accumulation = set.accumulation } },
}]],
  guess = { unit = "%", most = 100, within = 0.15, answer = function(old) return 100 * say.share(old, "dp") end },
  goal = function(new, old) return say.more(new, old, 4, "tokens_per_s") end,
  hints = {
    "The exchange takes the same time for one micro-batch as for the sum of ten.",
    "Gradients add up on each GPU for nothing. Then the exchange is paid once for all of them.",
    "accumulation = 16.",
  },
  notice = function(new, old)
    return ("The exchange was %s of a step and is %s. But the global batch is larger by as much: another training, whose learning rate must follow, and that gains only up to the critical batch (track 7)."):format(
      say.percent(say.share(old, "dp")), say.percent(say.share(new, "dp")))
  end,
  formula = "share of the exchange = E / (E + a x C), with a micro-batches of C each. Limits: the global batch grows with a.",
  measured = { "training-accuracy", "ds3lab-megatron-1gpu-nodes", "GPT-3 XL over machines of one GPU each, on Ethernet of up to 10 Gb/s" },
  solution = { accumulation = 16 },
  wrong = {
    { guess = 20, why = "That is with InfiniBand. Here 0.7 GB and more go through one thin cable each step." },
    { guess = 50, why = "Compare: some 50 ms of compute, and 1.4 GB in 32 bits through the cable." },
    { change = { accumulation = 2 }, why = "Half as often: not yet four times." },
  },
}
