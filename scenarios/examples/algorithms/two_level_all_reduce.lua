-- two_level_all_reduce.lua: an all_reduce in two levels, written by hand. The GPUs of a node sum up their parts, equal
-- parts of all nodes are summed around a ring between nodes, and what is complete is spread within the node again.
--
--   lockstep collective all_reduce --node dgx-a100 --nodes 4 --fabric ib-hdr200 --sizes 1M:1G:8 \
--       --steps scenarios/examples/algorithms/two_level_all_reduce.lua
--
-- The function is called for every rank and gives what that rank sends and receives, step by step. The messages of a
-- step are under way at once; the next step begins when all of them are through.
return function(rank, ranks, bytes, per_node)
  local nodes, node, place = ranks // per_node, rank // per_node, rank % per_node
  local steps = {}

  -- Every GPU sends each neighbour that neighbour's part, and gets its own part from all of them.
  local function exchange(size)
    local sends, receives = {}, {}
    for other = 0, per_node - 1 do
      if other ~= place then
        sends[#sends + 1] = { to = node * per_node + other, bytes = size }
        receives[#receives + 1] = { from = node * per_node + other, bytes = size }
      end
    end
    if #sends > 0 then steps[#steps + 1] = { send = sends, recv = receives } end
  end

  -- Around the ring of the GPUs at the same place of all nodes: twice, to sum up and to pass round.
  local function ring(size)
    local after, before = (node + 1) % nodes * per_node + place, (node - 1) % nodes * per_node + place
    for _ = 1, 2 * (nodes - 1) do
      steps[#steps + 1] = { send = { to = after, bytes = size }, recv = { from = before, bytes = size } }
    end
  end

  exchange(bytes / per_node)
  ring(bytes / per_node / nodes)
  exchange(bytes / per_node)
  return steps
end
