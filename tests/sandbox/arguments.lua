-- Hostile values at every function of the module.
--! not a number of GPUs => 4 "s.lua:2: error:"
cluster { gpus = 0 / 0 }
--! infinitely many GPUs => 4 "s.lua:2: error:"
cluster { gpus = math.huge }
--! minus no GPUs => 4 "s.lua:2: error:"
cluster { gpus = -0.0 }
--! the smallest number of GPUs => 4 "s.lua:2: error:"
cluster { gpus = math.mininteger }
--! the largest number of GPUs => 4 "s.lua:2: error:"
cluster { gpus = math.maxinteger }
--! GPUs beyond numbers, as text => 4 "s.lua:2: error:"
cluster { gpus = "1e999" }
--! GPUs in hexadecimal => 4 "s.lua:2: error:"
cluster { gpus = "0x1p10" }
--! GPUs that are a function => 4 "s.lua:2: error:"
cluster { gpus = function() end }
--! GPUs that are a coroutine => 4 "s.lua:2: error:"
cluster { gpus = coroutine.create(print) }
--! a cluster that is a text => 4 "takes a table of fields"
sim.cluster "dgx-a100"
--! a cluster that is nothing => 4 "needs node"
sim.cluster()
--! a cluster that is a cluster => 4 "takes a table of fields"
sim.cluster(cluster {})
--! a node that is a cluster => 4 "s.lua:2: error:"
cluster { node = cluster {} }
--! a node of a very long name => 4 "s.lua:2: error:"
cluster { node = ("x"):rep(1000000) }
--! a node with a NUL => 4 "error:"
cluster { node = "dgx-a100\0h100" }
--! nodes in a circle => 4 "s.lua:4: error:"
local t = {}
t.nodes, t.node, t.price, t.own, t.faults = { t }, t, t, t, t
sim.cluster(t)
--! nodes that look like a list => 4 "error:"
sim.cluster { nodes = setmetatable({}, { __index = function(_, i) return { node = "dgx-a100", gpus = 8 } end, __len = function() return 1 << 40 end }) }
--! fields behind __index => 4 "error:"
sim.cluster(setmetatable({}, { __index = function(_, k) error("asked for " .. k) end }))
--! fields behind __pairs => 4 "error:"
sim.cluster(setmetatable({ node = "dgx-a100" }, { __pairs = function() error "counted" end, __index = { gpus = 0 } }))
error "not counted"
--! a list with a hole at its far end => 4 "error:"
cluster { gpus = 8, link_speed = { [1] = 1, [1 << 40] = 1 } }
--! speeds that are none => 4 "s.lua:2: error:"
cluster { gpus = 8, link_speed = { 0 / 0 } }
--! a fabric that is a job => 4 "s.lua:2: error:"
cluster { gpus = 16, fabric = job() }
--! a fabric of no size => 4 "error:"
cluster { gpus = 64, fabric = sim.fabric { kind = "torus", link = "ib-ndr400", dims = { 128, 128, 128, 128, 128, 128, 128, 128 } } }
--! a fabric of negative size => 4 "error:"
cluster { gpus = 64, fabric = sim.fabric { kind = "torus", link = "ib-ndr400", dims = { -1, -64 } } }
--! a fabric of all groups => 4 "error:"
cluster { gpus = 64, fabric = sim.fabric { kind = "dragonfly", link = "ib-ndr400", groups = 1e300 } }
--! a graph that names nothing => 4 "error:"
cluster { gpus = 16, fabric = sim.fabric { kind = "graph", link = "ib-ndr400", links = {}, nodes = {} } }
--! a graph in a circle with itself => 4 "error:"
cluster { gpus = 16, fabric = sim.fabric { kind = "graph", link = "ib-ndr400", links = { { from = "a", to = "a", bandwidth = "1 GB/s" } }, nodes = { { switch = "a", count = 2 } } } }
--! a graph of a million cables => 4 "error:"
local links = {}
for i = 1, 100000 do links[i] = { from = "a" .. i, to = "b" .. i, bandwidth = "1 GB/s" } end
cluster { gpus = 16, fabric = sim.fabric { kind = "graph", link = "ib-ndr400", links = links, nodes = { { switch = "a1", count = 2 } } } }
--! a price that is not a number => 4 "s.lua:2: error:"
cluster { price = { gpu_hour = 0 / 0 } }
--! a model of no layers => 4 "s.lua:2: error:"
sim.model.transformer { layers = 0, hidden = 0, heads = 0 }
--! a model of all layers => 4 "error:"
sim.training { model = sim.model.transformer { layers = 1e18, hidden = 1e18, heads = 1e18 } }
--! a model that is too large to count => 4 "error:"
return sim.study { on = cluster {}, run = sim.training { model = sim.model.transformer { layers = 100000, hidden = 1000000000, heads = 1, ffn = 1000000000, vocab = 1000000000 }, batch = { micro = 1 } } }
--! a network of negative widths => 4 "s.lua:2: error:"
sim.model.mlp { widths = { -1, 2 ^ 63 } }
--! a network of a million layers => 4 "error:"
local widths = {}
for i = 1, 1000000 do widths[i] = 1 end
sim.model.mlp { widths = widths }
--! a model by no name => 4 "error:"
sim.model.get(nil)
--! a model by a number => 4 "error:"
sim.model.get(1e308)
--! a batch of no size => 4 "error:"
sim.training { model = "gpt2-small", batch = { micro = 1e-300, global = 1e300 } }
--! a batch that is a list => 4 "error:"
sim.training { model = "gpt2-small", batch = { 1, 2, 3 } }
--! parallelism beyond integers => 4 "error:"
sim.training { model = "gpt2-small", parallel = { tp = 1 << 31, pp = 1 << 31, cp = 1 << 31 } }
--! parallelism whose product wraps => 4 "error:"
return sim.study { on = cluster {}, run = sim.training { model = "gpt2-small", seq_len = 128, batch = { micro = 1 }, parallel = { tp = 65536, pp = 65536, cp = 1 } } }
--! more replicas than GPUs => 4 "error:"
return sim.study { on = cluster {}, run = sim.training { model = "gpt2-small", seq_len = 128, batch = { micro = 1 }, strategy = "layers", parallel = { dp = 100 } } }
--! layers by the million => 4 "error:"
local layers = {}
for i = 1, 200000 do layers[i] = 100000 end
return sim.study { on = cluster {}, run = sim.training { model = "gpt2-small", seq_len = 128, batch = { micro = 1 }, parallel = { pp = 8, layers = layers } } }
--! an expectation that is none => 4 "error:"
job():expect { mfu = "> nan", memory = "<" }
--! an expectation of a cluster => 4 "error:"
job().expect(cluster {}, {})
--! a study without anything => 4 "error:"
return sim.study {}
--! a study of studies => 4 "error:"
local s = sim.study { on = cluster {}, run = job() }
return sim.study { on = s, run = s }
--! a study that varies by the million => 4 "error:"
local gpus = {}
for i = 1, 1000000 do gpus[i] = i end
return sim.study { on = cluster {}, run = job(), vary = { gpus = gpus } }
--! a study that varies what multiplies => 4 "error:"
local many = sim.range(1, 10000)
return sim.study { on = cluster {}, run = job(), vary = { gpus = many, tp = many, pp = many, dp = many, global_batch = many } }
--! a study without end of seeds => 4 "error:"
return sim.study { on = cluster {}, run = job(), seeds = 1e18 }
--! a title that is a table => 4 "s.lua:2: error:"
return sim.study { on = cluster {}, run = job(), title = {} }
--! a report of nothing => 4 "s.lua:2: error:"
return sim.report { rows = {} }
--! a report of what is no number => 4 "s.lua:2: error:"
return sim.report { rows = { { name = "a", simulated = 0 / 0, published = math.huge, source = "x" } } }
--! a report of a very long name => 4 "longer than 4096 bytes"
return sim.report { title = ("t"):rep(100000), rows = { { name = ("n"):rep(100000), simulated = 1, published = 1e-300, source = ("s"):rep(100000), unit = ("u"):rep(1000) } } }
--! a list that counts for ever => 4 "error:"
sim.range(0, 1, 1e-300)
--! a list that counts beyond => 4 "error:"
sim.range(-1e308, 1e308, 1)
--! a list that grows by nothing => 4 "error:"
sim.geometric(1, 2, 1)
--! a list of not a number => 4 "error:"
sim.linear(0 / 0, 1, 5)
--! a list of too many => 4 "error:"
sim.linear(0, 1, math.maxinteger)
--! a group of no ranks => 4 "error:"
sim.group {}
--! a group of ranks that are none => 4 "error:"
sim.group { -1, 1.5, "x", {} }
--! a group behind a false length => 4 "error:"
sim.group(setmetatable({}, { __len = function() return 1 << 40 end }))
--! an option in place of the command's own => 4 "error:"
sim.options { output = { default = "x" }, ["memory-limit"] = { default = 1 }, wall = { default = "off" } }
--! an option in place of --help => 4 "error:"
sim.options { help = { default = 1 } }
--! an option by a strange name => 4 "error:"
sim.options { ["a=b --c"] = { default = 1 } }
--! an option of not a number => 4 "error:"
sim.options { x = { default = 0 / 0, min = 1, max = -1 } }
--! a fit of nothing => 4 "error:"
sim.fit {}
--! a fit whose function raises => 4 "error:"
sim.fit { unknowns = { a = { start = 1, min = 0.1, max = 10 } }, rows = { { m = 1 } }, measured = "m", predict = function() error "no" end }
--! a fit of what is no number => 4 "error:"
sim.fit { unknowns = { a = { start = 1, min = 0.1, max = 10 } }, rows = { { m = 1 }, { m = 2 } }, measured = "m", predict = function() return 0 / 0 end }
--! a fit that never ends => 4 "error:"
sim.fit { unknowns = { a = { start = 1, min = 0.1, max = 10 } }, rows = { { m = 1 }, { m = 2 } }, measured = "m", predict = function() while true do end end }
--! a queue of jobs by the million => 4 "error:"
return sim.queue { on = cluster {}, demand = { count = 2e9 } }
--! a queue of jobs that never end => 4 "error:"
return sim.queue { on = cluster {}, jobs = { { gpus = 1, duration = "1e300 s" } } }
--! a cost of nothing => 4 "error:"
sim.cost {}
--! a part by a table => 4 "error:"
sim.hw {}
--! returning a coroutine => 4 "the script returns a thread"
return coroutine.create(print)
--! returning a list without end => 4 "error:"
return setmetatable({}, { __len = function() return 1 << 40 end, __index = function() return fine() end })
--! returning a list with a stranger => 4 "error:"
return { fine(), 1, fine() }
