-- pieces.lua: what the lessons that rebuild a built-in strategy share. Not a scenario of its own.
local pieces = {}

-- Plays a list of sim.blocks on a rank's main stream: work, and collectives of the groups given by name. What runs
-- beside the work goes on a stream of its own until the list joins it.
function pieces.play(r, list, groups, name)
  for _, item in ipairs(list) do
    if item.seconds then
      r:compute { seconds = item.seconds, name = name }
    elseif item.join then
      r:wait "beside done"
    elseif item.overlapped then
      local beside = r:stream "beside"
      r:record "beside starts"
      beside:wait "beside starts"
      beside[item.collective](beside, { group = groups[item.group], bytes = item.bytes })
      beside:record "beside done"
    else
      r[item.collective](r, { group = groups[item.group], bytes = item.bytes })
    end
  end
end

-- Communication kernels hold a part of the GPU while they run beside compute: what that costs.
function pieces.slow_down(r, blocks, bytes, seconds)
  local together = math.min(blocks.traffic_seconds_per_byte * bytes, seconds)
  if together > 0 then r:compute { seconds = blocks.interference * together, name = "interference" } end
end

-- Gradients in buckets on a stream of their own: `add` those of a block that is through with backward, `wait` for all.
-- What spread experts have is reduced over the ranks that hold the same ones.
function pieces.buckets(r, blocks, groups)
  local comm, parameters, experts, count = r:stream "gradients", 0, 0, 0
  local function close()
    if parameters + experts == 0 then return end
    count = count + 1
    r:record("ready " .. count)
    comm:wait("ready " .. count)
    if experts > 0 and groups.same_experts then
      comm:all_reduce { group = groups.same_experts, bytes = math.ceil(math.ceil(experts) * blocks.gradient_bytes) }
    end
    if parameters > 0 then comm:all_reduce { group = groups.dp, bytes = math.ceil(math.ceil(parameters) * blocks.gradient_bytes) } end
    comm:record("reduced " .. count)
    parameters, experts = 0, 0
  end
  return {
    add = function(block)
      parameters, experts = parameters + block.parameters, experts + block.experts
      if (parameters + experts) * blocks.gradient_bytes >= blocks.bucket_bytes then close() end
    end,
    wait = function()
      close()
      for i = 1, count do r:wait("reduced " .. i) end
    end,
  }
end

-- The last backward of blocks last … first: their gradients travel while the next ones compute.
function pieces.backward_with_buckets(r, blocks, groups, buckets, first, last)
  for b = last, first, -1 do
    local block = blocks[b]
    pieces.play(r, block.backward, groups, "B")
    local reduced = block.parameters + (groups.same_experts and block.experts or 0)
    pieces.slow_down(r, blocks, reduced * blocks.gradient_bytes * 2, block.backward.seconds)
    buckets.add(block)
  end
end

-- A pipeline's stage: forward and backward of micro-batches with what comes from and goes to its neighbours, each
-- direction on a stream of its own. `chunk` counts from 1 in the model's order.
function pieces.stage(r, blocks, stride)
  local world, last_chunk = r.world, #blocks.chunks
  local function pass(kind, chunk, m, from, to)
    local name, first, last = kind .. chunk .. "." .. m, blocks.chunks[chunk][1], blocks.chunks[chunk][2]
    if from then
      local into = r:stream(kind .. " in")
      into:recv { from = from % world, tag = m }
      into:record(name .. " in")
      r:wait(name .. " in")
    end
    local start, stop, step = first, last, 1
    if kind == "B" then start, stop, step = last, first, -1 end
    for b = start, stop, step do
      pieces.play(r, kind == "F" and blocks[b].forward or blocks[b].backward, {}, kind .. m)
    end
    if not to then return end
    local out, before = r:stream(kind .. " out"), kind == "F" and last or blocks.chunks[chunk - 1][2]
    r:record(name .. " done")
    out:wait(name .. " done")
    out:send { to = to % world, bytes = blocks[before].output_bytes, tag = m }
    out:record(name .. " sent")
    if blocks.vpp == 1 then r:wait(name .. " sent") end -- interleaved, sends are not waited for
  end
  return {
    forward = function(chunk, m)
      pass("F", chunk, m, chunk > 1 and r.id - stride, chunk < last_chunk and r.id + stride)
    end,
    backward = function(chunk, m)
      pass("B", chunk, m, chunk < last_chunk and r.id + stride, chunk > 1 and r.id - stride)
    end,
    -- The first and the last stage add up their gradients of the shared table, then all update their weights.
    finish = function()
      local first, last, parameters = r.id < stride, r.id >= world - stride, 0
      if blocks.tied_bytes > 0 and (first or last) then
        local sim = require "lockstep"
        local at = r.id % stride
        r:all_reduce { group = sim.group { at, world - stride + at }, bytes = blocks.tied_bytes, name = "tied table" }
      end
      for chunk = 1 + r.id // stride, last_chunk, blocks.pp do
        for b = blocks.chunks[chunk][1], blocks.chunks[chunk][2] do parameters = parameters + blocks[b].parameters end
      end
      r:compute { seconds = blocks.optimizer(parameters), name = "optimizer" }
    end,
  }
end

return pieces
