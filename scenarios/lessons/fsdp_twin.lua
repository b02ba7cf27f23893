-- fsdp_twin.lua: fully sharded data parallelism (FSDP, ZeRO-3) by hand, beside the built-in: equal to the picosecond.
--
-- Each rank keeps a part of every block's weights. A block's weights are gathered while the block before computes, freed
-- after it, and gathered again in backward; its gradients are scattered to their owners while the next block computes
-- (Zhao et al. 2023). Weights of two blocks at most are there at once. Question to try: on how many GPUs does the
-- gathering no longer hide behind compute?
local sim, pieces = require "lockstep", require "pieces"

local opt = sim.options {
  model = { default = "gpt2-355m", help = "what is trained" },
  gpus  = { default = 16, min = 2, max = 64, help = "GPUs that share one copy of the weights" },
  zero  = { default = 3, values = { 2, 3 }, help = "2: weights are gathered in forward only, and kept for backward" },
  fidelity = { default = "fluid", values = { "fluid", "flow" }, help = "flow: collectives as all their messages" },
}
local cluster = sim.cluster { node = "dgx-a100", gpus = opt.gpus, fabric = "ib-hdr200" }
local job = sim.training { model = opt.model, framework = "megatron", zero = opt.zero, batch = { micro = 2, accumulation = 2 }, seq_len = 512,
                           precision = "bf16", fidelity = opt.fidelity }
local blocks = sim.blocks { on = cluster, run = job }

local function rank(r)
  local comm, parameters, events = r:stream "gradients", 0, 0
  local function event(stream)                     -- marks where the stream is
    events = events + 1
    stream:record("event " .. events)
    return "event " .. events
  end
  local function gather(b, after)                  -- gives the event of its end; nothing to wait for without weights
    if blocks[b].parameters == 0 then return end
    if after then comm:wait(after) end
    comm:all_gather { bytes = math.ceil(blocks[b].parameters) * blocks.weight_bytes }
    return event(comm)
  end
  local function compute(list, gathered, bytes_beside, name)
    if gathered then r:wait(gathered) end
    pieces.play(r, list, {}, name)
    pieces.slow_down(r, blocks, bytes_beside, list.seconds)
    return event(r)
  end
  local function weights(b) return blocks[b].parameters * blocks.weight_bytes end

  local function forward()
    local last                                     -- when the block computed last was through
    local gathered = gather(1)
    for b = 1, #blocks do
      local following = b < #blocks and gather(b + 1, last) or nil
      last = compute(blocks[b].forward, gathered, following and weights(b + 1) or 0, "F")
      gathered = following
    end
  end
  local reduced
  local function backward()
    local again, last = opt.zero == 3, nil
    local gathered = again and gather(#blocks) or nil
    for b = #blocks, 1, -1 do
      local following = again and b > 1 and gather(b - 1, last) or nil
      local beside = following and weights(b - 1) or 0
      if b < #blocks then beside = beside + blocks[b + 1].parameters * blocks.gradient_bytes end
      last = compute(blocks[b].backward, gathered, beside, "B")
      if blocks[b].parameters > 0 then
        comm:wait(last)
        comm:reduce_scatter { bytes = math.ceil(blocks[b].parameters) * blocks.gradient_bytes }
        reduced = event(comm)
      end
      gathered = following
    end
  end

  for _ = 1, blocks.micro_batches do
    forward()
    backward()
  end
  r:wait(reduced)
  for b = 1, #blocks do parameters = parameters + blocks[b].parameters end
  r:compute { seconds = blocks.optimizer(parameters / blocks.shard), name = "optimizer" }
end

return { sim.program { title = "FSDP by hand", on = cluster, fidelity = opt.fidelity, rank = rank },
         sim.study { title = "FSDP, built in", on = cluster, run = job } }
