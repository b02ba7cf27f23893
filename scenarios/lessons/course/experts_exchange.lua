local say = ...
return {
  title = "Where tokens travel",
  question = "Mixtral 8x7B on 64 H100 in machines of eight. Each layer has eight experts, small networks of which a token visits two. "
    .. "$tp GPUs share each expert (tensor parallel), so eight experts are spread over 16 GPUs: two machines. In every layer an all-to-all sends tokens to "
    .. "their experts, and a second one brings them back, in forward and again in backward, for each of 16 micro-batches.",
  ask = "What percentage of a step do GPUs wait for these exchanges?",
  task = "Bring the exchange of tokens to at most 0.6 of its time, and the step to at most 0.99. Model, batch and network stay.",
  numbers = { tp = { 2 }, tokens = { 2048, 3072, 4096 } },
  settings = {
    { "ep", 8, "parts that the eight experts are spread over: 8, 4 or 2", of = { 8, 4, 2 } },
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
    "Half of the tokens leave their machine, over network cards that are far slower than NVLink. What if all experts were in one machine?",
    "Experts take tp x ep GPUs. 2 x 4 = 8 GPUs are one machine. Then a pair of GPUs has two experts in place of one.",
    "ep = 4.",
  },
  notice = function(new, old)
    return ("The exchange of tokens took %s a step, and takes %s now. Gradients took %s, and take %s: with more copies of each expert there is more to add up. But gradients are added up once a step, and tokens travel in every micro-batch."):format(
      say.time(old.exposed.ep), say.time(new.exposed.ep), say.time(old.exposed.dp), say.time(new.exposed.dp))
  end,
  formula = "Bytes of a layer and micro-batch = 2 (there and back) x 2 (experts of a token) x tokens x hidden x 2 bytes, in forward and as many in backward; (ep - 1) / ep of them go to other GPUs. Limits: what stays in a machine has NVLink; what leaves it waits for the slowest card.",
  measured = { "training-accuracy", "megatron-moe-modelzoo", "Qwen3 235B, a mixture of experts, on 64 to 256 GPUs" },
  solution = { ep = 4 },
  wrong = {
    { guess = 60, why = "So much waits only if most tokens choose one expert. Here all experts get equally many." },
    { change = { fused_dispatch = true }, why = "That makes the kernels around the exchange quicker; as many tokens still leave their machine." },
  },
}
