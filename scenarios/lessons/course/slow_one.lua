local say = ...
return {
  title = "One slow GPU of sixty-four",
  question = "Llama 2 7B, fully sharded over 64 H100 in eight machines. One GPU runs hot and computes $slow times as long as the others. Every layer's "
    .. "weights are gathered from all, so all wait for it, every layer.",
  ask = "How many percent of the throughput are lost?",
  task = "Train at least 1.1 times as many tokens a second, without mending the GPU.",
  numbers = { slow = { 1.4, 1.45, 1.5, 1.55, 1.6 } },
  settings = {
    { "machines", 8, "machines of eight that take part; the slow GPU is in the eighth", 1, 8 },
    { "fabric", "ib-ndr400", "network between machines" },
    { "slow", nil, "times as long as the others" },
  },
  change = { "machines", "fabric" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-h100", gpus = 8 * set.machines, fabric = set.fabric },
  run = sim.training { model = "llama-2-7b", seq_len = 4096, zero = 3, recompute = "selective",
                       straggler = set.machines == 8 and set.slow > 1 and set.slow or nil, batch = { micro = 1, accumulation = 4 } },
}]],
  guess = {
    unit = "%", most = 100, within = 0.25,
    answer = function(old, n, run) return 100 * (1 - old.tokens_per_s / run { slow = 1 }.tokens_per_s) end,
  },
  goal = function(new, old) return say.more(new, old, 1.1, "tokens_per_s") end,
  hints = {
    "One in sixty-four is 1.6 %. But who waits for whom?",
    "A step that ends together ends with the last. The other 63 wait as long as the slow one takes longer.",
    "machines = 7: eight GPUs fewer, and quicker.",
  },
  notice = function(new, old)
    return ("%s tokens a second with 64 GPUs, %s with 56. Large runs therefore look for the slowest rank all the time, and swap it."):format(
      say.whole(old.tokens_per_s), say.whole(new.tokens_per_s))
  end,
  formula = "step = max over ranks; loss = 1 - 1 / factor, whatever the number of GPUs. Limits: exchange that was hidden hides a little less or more.",
  measured = { "training-accuracy", "megatron-core-h100-weak", "48 to 6,144 H100 in step; a slow one was not measured" },
  solution = { machines = 7 },
  wrong = {
    { guess = 1.6, why = "That is its share of the GPUs. All others wait for it." },
    { guess = 0.8, why = "That is its share of the work that is done late. All others wait for it." },
    { change = { fabric = "ib-xdr800" }, why = "They do not wait for the network." },
    { change = { machines = 3 }, why = "Quick, but too few." },
  },
}
