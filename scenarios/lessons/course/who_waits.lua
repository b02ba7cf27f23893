local say = ...
return {
  title = "Everybody waits for everybody",
  question = "$gpus GPUs stand in a ring, and each hands $mib MiB to the one on its right. Each first sends, then receives. A send "
    .. "is through when the other side receives.",
  ask = "What happens: \"done\", or \"deadlock\"?",
  task = "Change who receives first so that all come through in two rounds, not one after the other.",
  numbers = { gpus = { 4, 6, 8 }, mib = { 16, 64 } },
  settings = {
    { "receives_first", "none", "none, all, odd (those of odd number), last (the last one alone)", of = { "none", "all", "odd", "last" } },
    { "gpus", nil, "GPUs in a ring" },
  },
  change = { "receives_first" },
  scenario = [[
local sim = require "lockstep"
return sim.program {
  title = "Hand to the right", on = sim.cluster { node = "dgx-a100", gpus = set.gpus },
  rank = function(r)
    local right, left = (r.id + 1) % r.world, (r.id - 1) % r.world
    local first = ({ none = false, all = true, odd = r.id % 2 == 1, last = r.id == r.world - 1 })[set.receives_first]
    if first then r:recv { from = left } end
    r:send { to = right, bytes = "$mib MiB" }
    if not first then r:recv { from = left } end
  end,
}]],
  guess = {
    choices = { "done", "deadlock" },
    answer = function(old) return old.ran and "done" or "deadlock" end,
  },
  goal = function(new, old, set)
    if not new.ran then return "The program stands still: " .. tostring(new.why_not) end
    return set.receives_first == "odd" or "All come through, one after the other: " .. say.time(new.step_time) .. ". Let half of them receive at once."
  end,
  hints = {
    "Draw who waits for whom. If the arrows close a circle, nobody ever goes on.",
    "One that receives first breaks the circle, and then the next can go on, and the next: a chain. Better that every second one receives.",
    "receives_first = \"odd\". In NCCL one writes both calls into a group, which means the same.",
  },
  notice = function(new, old, n)
    return ("With every second one receiving, all is done in %s: two rounds, whatever the number of GPUs. The message named the line where each rank stood: lockstep run does it for your programs too."):format(say.time(new.step_time))
  end,
  formula = "A deadlock is a circle of waits. Limits: small messages may go into a buffer, so that a wrong program runs until its messages grow (MPI's eager limit).",
  measured = { "collectives-accuracy", "DGX A100 pod", "what the same links carry, measured with nccl-tests" },
  solution = { receives_first = "odd" },
  wrong = {
    { guess = "done", why = "Each waits in its send for a receive that the other reaches only after its own send." },
    { change = { receives_first = "all" }, why = "Now all wait for a message that nobody has sent yet." },
    { change = { receives_first = "last" }, why = "It comes through, as a chain: each waits for the one before." },
  },
}
