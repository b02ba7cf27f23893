local say = ...
return {
  title = "Where tokens travel",
  question = "Mixtral 8x7B on 64 H100, its experts spread over 8 GPUs, $tp GPUs sharing each matrix, 16 micro-batches a step. Two all-to-alls a layer "
    .. "carry every token to its experts and back, in forward and in backward.",
  ask = "What percentage of a step waits for that exchange?",
  task = "Bring the exchange of experts to at most 0.6 of its time, and the step to at most 0.99. Model, batch and network stay.",
  numbers = { tp = { 2 }, tokens = { 2048, 3072, 4096 } },
  settings = {
    { "ep", 8, "GPUs over which the experts are spread: 8, 4 or 2", of = { 8, 4, 2 } },
    { "fused_dispatch", false, "true: one kernel puts tokens in order and sends them" },
    { "tokens", nil, "tokens of a sequence" },
    { "tp", nil, "GPUs that share a matrix" },
  },
  change = { "ep", "fused_dispatch" },
  scenario = [[
local sim = require "lockstep"
return sim.study {
  on = sim.cluster { node = "dgx-h100", gpus = 64, fabric = "ib-ndr400" },
  run = sim.training { model = "mixtral-8x7b", seq_len = set.tokens, zero = 1, recompute = "full", fused_dispatch = set.fused_dispatch,
                       parallel = { tp = set.tp, ep = set.ep }, batch = { micro = 1, accumulation = 16 } },
}]],
  guess = { unit = "%", most = 100, within = 0.4, answer = function(old) return 100 * say.share(old, "ep") end },
  goal = function(new, old)
    local before, now = old.exposed.ep, new.exposed.ep or 0
    local less = say.most(("The exchange took %s, and takes"):format(say.time(before)), say.time, now, 0.6 * before)
    return less ~= true and less or say.quicker(new, old, 0.99)
  end,
  hints = {
    "Eight experts with two GPUs for each matrix are sixteen GPUs: two machines. What if the exchange stayed within one?",
    "tp x ep = 8 is one machine with NVLink. Each GPU holds more experts then, and gradients of experts are reduced over more replicas.",
    "ep = 4.",
  },
  notice = function(new, old)
    return ("The exchange took %s a step, now %s; gradients %s, now %s, for each expert is reduced over more replicas. That is paid once a step, the exchange in every micro-batch."):format(
      say.time(old.exposed.ep), say.time(new.exposed.ep), say.time(old.exposed.dp), say.time(new.exposed.dp))
  end,
  formula = "bytes = there and back 2 x top-k x tokens x hidden x 2 bytes each, (ep - 1) / ep of them to other GPUs. Limits: NVLink inside, the slowest card between.",
  measured = { "training-accuracy", "megatron-moe-modelzoo", "Qwen3 235B, a mixture of experts, on 64 to 256 GPUs" },
  solution = { ep = 4 },
  wrong = {
    { guess = 60, why = "That would be with one expert that most tokens choose. Here shares are even." },
    { change = { fused_dispatch = true }, why = "Better kernels put tokens in order; as many still cross between machines." },
  },
}
