-- operators_twin.lua: a model written as operators beside the library's. Llama 2 7B, or with --experts Mixtral 8x7B: the
-- same parameters and FLOPs to the last one, and steps as long within one in a hundred (tests/test_written.c). Change a
-- line of it for a model that no library has.
local sim = require "lockstep"

local opt = sim.options {
  experts = { default = false, help = "Mixtral 8x7B in place of Llama 2 7B" },
  fused_norms = { default = false, help = "the library's norms as one kernel each, as those written here are" },
  tp = { default = 2, min = 1, max = 8, help = "tensor parallelism" },
  pp = { default = 1, min = 1, max = 8, help = "pipeline stages" },
  ep = { default = 1, min = 1, max = 8, help = "expert parallelism" },
  zero = { default = 1, min = 0, max = 3, help = "what data-parallel ranks share out" },
  gpus = { default = 8, min = 1, max = 64, help = "GPUs" },
}

local hidden, vocab, head_dim = 4096, 32000, 128
local ffn, kv_heads = opt.experts and 14336 or 11008, opt.experts and 8 or 32

-- Sizes are per token, and of all tensor-parallel GPUs together.
local attention = {
  { op = "norm", width = hidden },
  { op = "gemm", name = "qkv", n = hidden + 2 * kv_heads * head_dim, k = hidden, tp = "columns" },
  { op = "attention", heads = hidden // head_dim, kv_heads = kv_heads, head_dim = head_dim, causal = true },
  { op = "gemm", name = "proj", n = hidden, k = hidden, tp = "rows" },
  { op = "norm", width = hidden },
}
local mlp = {
  { op = "gemm", name = "up", n = 2 * ffn, k = hidden, tp = "columns" },
  { op = "elementwise", name = "SwiGLU", width = ffn, gated = true },
  { op = "gemm", name = "down", n = hidden, k = ffn, tp = "rows" },
}
-- Each token goes to two of eight experts: between dispatch and combine everything is the experts'.
local routed = {
  { op = "gemm", name = "router", n = 8, k = hidden },
  { op = "dispatch", width = hidden },
  mlp[1], mlp[2], mlp[3],
  { op = "combine", width = hidden },
}

local layer = {}
for _, part in ipairs { attention, opt.experts and routed or mlp } do
  for _, operator in ipairs(part) do layer[#layer + 1] = operator end
end

local written = sim.model.operators {
  name = "written", max_positions = 4096,
  experts = opt.experts and 8 or nil, per_token = opt.experts and 2 or nil,
  blocks = {
    { name = "embedding", operators = { { op = "lookup", rows = vocab, width = hidden, tp = "rows" } } },
    { name = "layer", times = 32, operators = layer },
    { name = "head", operators = {
      { op = "norm", width = hidden },
      { op = "gemm", name = "logits", n = vocab, k = hidden, tp = "columns" },
      { op = "loss", width = vocab },
    } },
  },
}

local cluster = sim.cluster { node = "dgx-h100", gpus = opt.gpus, fabric = "ib-ndr400" }

local function study(model, title, fused_norms)
  return sim.study {
    title = title, on = cluster, assume_fits = true,
    run = sim.training {
      model = model, seq_len = 4096, zero = opt.zero,
      parallel = { tp = opt.tp, sequence_parallel = false, pp = opt.pp, ep = opt.ep },
      batch = { micro = 1, global = 64 }, fused_norms = fused_norms,
    },
  }
end

return {
  study(written, "as operators"),
  study(opt.experts and "mixtral-8x7b" or "llama-2-7b", "the library's", opt.fused_norms or nil),
}
