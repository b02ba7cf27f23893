local say = ...
return {
  title = "One column too many",
  question = "An A100 has 108 multiprocessors, and a product is cut into tiles that they work at, one each at a time. A matrix of "
    .. "1,024 x 4,096 is multiplied by one of 4,096 x $width; its neighbour of 3,456 columns gives exactly 108 tiles. "
    .. "Where they do not come out even, the library takes smaller tiles, so that the wave too many is about a tenth as long.",
  ask = "How many percent longer does it take than with 3,456 columns (0.03 % more arithmetic)?",
  task = "Choose a width of at least $width whose FLOP/s are at least 7 % higher.",
  numbers = { width = { 3457, 3460, 3464, 3472 } },
  settings = { { "width", nil, "columns of the right matrix" } },
  change = { "width" },
  scenario = [[
local sim = require "lockstep"
return sim.program {
  title = "A product", on = sim.cluster { node = "dgx-a100", gpus = 1 },
  rank = function(r) r:compute { gemm = { m = 1024, n = set.width, k = 4096 }, precision = "bf16" } end,
}]],
  guess = { unit = "%", within = 0.5, give = 1, answer = function(old, n, run) return 100 * (old.step_time / run { width = 3456 }.step_time - 1) end },
  goal = function(new, old, set, usual)
    if set.width < usual.width then return "That is narrower than what is needed." end
    local gain = (set.width / new.step_time) / (usual.width / old.step_time) - 1
    return say.least("It does more FLOP in a second by", say.percent, gain, 0.07)
  end,
  hints = {
    "What do 108 multiprocessors do with 109 tiles?",
    "The last tile needs a wave of its own, in which most stand idle. Libraries soften it with smaller tiles. Widths that fill waves lose nothing.",
    "width = 6912: twice 3,456.",
  },
  notice = function(new, old, n)
    return ("%s at $width columns; the wider one does more FLOP in a second though it takes %s. Hidden sizes and vocabularies are padded for this reason."):format(say.time(old.step_time), say.time(new.step_time))
  end,
  formula = "time is proportional to ceil(tiles / multiprocessors), roughly. Limits: libraries choose among tiles and split sums, so the step is smaller than a whole wave.",
  measured = { "first-contact", "A100-SXM4-80GB  gemm bf16", "products of one A100, shape by shape" },
  solution = { width = 6912 },
  right = { { guess = 10 }, { change = { width = 10368 } } },
  wrong = {
    { guess = 100, why = "A whole second wave would be that; the library takes smaller tiles then." },
    { guess = 0, why = "The arithmetic is the same, but the tiles do not come out even." },
    { change = { width = 3584 }, why = "A rounder number, but not one that fills waves." },
    { change = { width = 3456 }, why = "That is narrower than what is needed." },
  },
}
