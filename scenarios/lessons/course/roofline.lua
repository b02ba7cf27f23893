local say = ...
return {
  title = "Under which roof",
  question = "An A100 multiplies $rows rows by a matrix of 4,096 x 4,096 in bf16. It can do 312 TFLOP in a second and read 2 TB. "
    .. "The matrix has 33.6 MB, whatever the rows.",
  ask = "What limits the product: \"compute\" or \"memory\"?",
  task = "Find rows, 512 at most, with which it attains at least half of 312 TFLOP/s.",
  numbers = { rows = { 4, 8, 16, 24, 32 } },
  settings = { { "rows", nil, "rows of the left matrix: tokens of a batch" } },
  change = { "rows" },
  scenario = [[
local sim = require "lockstep"
return sim.program {
  title = "A product", on = sim.cluster { node = "dgx-a100", gpus = 1 },
  rank = function(r) r:compute { gemm = { m = set.rows, n = 4096, k = 4096 }, precision = "bf16" } end,
}]],
  guess = {
    choices = { "compute", "memory" },
    answer = function(old, n, run) return run { rows = 2 * n.rows }.step_time > 1.5 * old.step_time and "compute" or "memory" end,
  },
  goal = function(new, old, set)
    if set.rows > 512 then return "More than 512 rows are not asked for: tokens that wait for each other are late." end
    local rate = 2 * set.rows * 4096 * 4096 / new.step_time
    return say.least("Of 312 TFLOP/s it attains", say.percent, rate / 312e12, 0.5)
  end,
  hints = {
    "For each number that is read, how many multiplications are done? That is the arithmetic intensity.",
    "312 TFLOP/s / 2 TB/s = 156 FLOP for each byte. A row does 2 x 4096 x 4096 FLOP on 33.6 MB: one FLOP for each byte.",
    "rows = 512. From some 156 rows on the roof is compute, and it takes more to come near it.",
  },
  notice = function(new, old, n)
    return ("With $rows rows: %s, the time to read the matrix and start a kernel. Twice the rows would take as long. This is why inference of one token at a time uses so little of a GPU."):format(say.time(old.step_time))
  end,
  formula = "time = max(FLOP / peak, bytes / bandwidth); intensity = FLOP / bytes, the ridge at peak / bandwidth. Limits: near the ridge both count; tiles and waves take some more.",
  measured = { "first-contact", "A100-SXM4-80GB  gemm bf16", "small products of one A100" },
  solution = { rows = 512 },
  wrong = {
    { guess = "compute", why = "Twice the rows would then take twice as long; they take no longer." },
    { change = { rows = 64 }, why = "Still under the memory's roof." },
    { change = { rows = 4096 }, why = "It attains more, but more than 512 rows are not asked for." },
  },
}
