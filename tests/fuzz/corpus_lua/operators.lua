local sim = require "lockstep"
local mlp = {
  { op = "gemm", name = "router", n = 4, k = 64 }, { op = "dispatch", width = 64 },
  { op = "gemm", n = 256, k = 64, tp = "columns", bias = true }, { op = "elementwise", width = 128, gated = true, passes = { 3, 5 } },
  { op = "gemm", n = 64, k = 128, tp = "rows" }, { op = "combine", width = 64, kept = 0 },
}
local model = sim.model.operators { name = "moe", experts = 4, per_token = 2, max_positions = 128,
  blocks = {
    { name = "embedding", operators = { { op = "lookup", rows = 100, width = 64, tp = "rows" } } },
    { times = 4, operators = { { op = "norm", width = 64 }, { op = "gemm", n = 192, k = 64, tp = "columns" },
      { op = "attention", heads = 4, kv_heads = 2, head_dim = 16, causal = true }, { op = "gemm", n = 64, k = 64, tp = "rows" } } },
    { times = 2, operators = mlp },
    { operators = { { op = "gemm", n = 100, k = 64, tp = "columns" }, { op = "loss", width = 100 } } },
  } }
return sim.study { on = sim.cluster { node = "dgx-a100", gpus = 8 },
  run = sim.training { model = model, parallel = { tp = 2, ep = 2 }, batch = { micro = 1, global = 8 } } }
