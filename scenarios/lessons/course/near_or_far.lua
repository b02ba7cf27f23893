local say = ...
return {
  title = "Who sits next to whom",
  question = "512 H100 in 64 machines. Sixteen machines are cabled to one leaf switch, which has four cables down, to its machines, for each cable up, to the other "
    .. "leaves. GPUs exchange tokens in groups of 64: an all-to-all. Now a group is \"far\": one GPU of each machine. It could be \"near\": all GPUs of eight "
    .. "machines on one leaf.",
  ask = "How many times as long does the exchange take with far groups as with near ones?",
  task = "Bring the exchange to at most half, with the same cables.",
  numbers = { mib = { 32, 48, 64, 96, 128 } },
  settings = {
    { "group", "far", "far: one GPU of each machine; near: eight machines of one leaf", of = { "far", "near" } },
    { "oversubscription", 4, "cables down for each one up" },
    { "mib", nil, "MiB of each GPU for all of its group" },
  },
  change = { "group" },
  scenario = [[
local sim = require "lockstep"
return sim.program {
  title = "All to all in groups",
  on = sim.cluster { node = "dgx-h100", gpus = 512,
                     fabric = sim.fat_tree { link = "ib-ndr400", oversubscription = set.oversubscription, nodes_per_leaf = 16 } },
  rank = function(r)
    local members = {}
    for i = 0, 63 do members[i + 1] = set.group == "near" and r.id // 64 * 64 + i or r.id % 8 + 8 * i end
    r:all_to_all { group = sim.group(members), bytes = set.mib * 1024 * 1024 }
  end,
}]],
  guess = { unit = "times", within = 0.3, answer = function(old, n, run) return old.step_time / run { group = "near" }.step_time end },
  goal = function(new, old) return say.quicker(new, old, 0.5) end,
  hints = {
    "Which links does a byte pass on its way, in each of the two?",
    "Near: seven of eight partners over the leaf, one over NVLink. Far: three of four go up through the few cables.",
    "group = \"near\".",
  },
  notice = function(new, old)
    return ("%s, now %s: not a cable more. The order of ranks decides who is near: tensor parallel innermost, then experts, data outermost."):format(
      say.time(old.step_time), say.time(new.step_time))
  end,
  formula = "bytes over a link = sum over pairs that it joins. Limits: something must be far; make it what talks least.",
  measured = { "collectives-accuracy", "CoreWeave HGX A100", "collectives over trees of switches, measured with nccl-tests" },
  solution = { group = "near" },
  right = { { guess = 3 / 4 * 4 / (7 / 8) } },
  wrong = {
    { guess = 1, why = "The number of bytes is the same, the links are not." },
    { guess = 8, why = "Near groups pass the network too: seven of eight partners are in other machines." },
    { change = { oversubscription = 1 }, why = "The cables stay as they are." },
  },
}
