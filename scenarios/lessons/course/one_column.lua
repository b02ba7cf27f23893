local say = ...
return {
  title = "One column too many",
  question = "A GPU cuts the result of a matrix product into tiles. Each of its multiprocessors computes one tile at a time: an A100 "
    .. "has 108, so 108 tiles are one wave. A result of 1,024 x 3,456 numbers is exactly 108 tiles. Yours has $width columns: "
    .. "a few tiles are left over and need a wave of their own. The library makes that wave short: its tiles are small, and it "
    .. "takes about a tenth of the time of a full wave.",
  ask = "The product with $width columns has less than 1 % more arithmetic than the one with 3,456. How many percent longer does it take?",
  task = "Choose a width of $width or more with which the GPU does at least 7 % more FLOP in a second.",
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
    "108 multiprocessors and 109 tiles: after the first wave one tile is left. How many multiprocessors work then?",
    "Nearly all wait while the few tiles that are left are computed. A width that fills its last wave wastes nothing.",
    "3,456 columns fill one wave, twice as many fill two: width = 6912.",
  },
  notice = function(new, old, n)
    return ("$width columns took %s, the new width takes %s: longer, but it does more FLOP in each second, because no wave is half empty. Models are given widths that fill waves for this reason."):format(say.time(old.step_time), say.time(new.step_time))
  end,
  formula = "waves = tiles / multiprocessors, rounded up; time is roughly waves x time of one. Limits: a library may choose smaller tiles, so that the last wave is shorter than a whole one.",
  measured = { "first-contact", "A100-SXM4-80GB  gemm bf16", "products of one A100, shape by shape" },
  solution = { width = 6912 },
  right = { { guess = 10 }, { change = { width = 10368 } } },
  wrong = {
    { guess = 100, why = "A whole second wave would be that; the library takes smaller tiles then." },
    { guess = 0, why = "The arithmetic is nearly the same, but some tiles are left over after the full wave." },
    { change = { width = 3584 }, why = "A rounder number, but not one that fills waves." },
    { change = { width = 3456 }, why = "That is narrower than what is needed." },
  },
}
