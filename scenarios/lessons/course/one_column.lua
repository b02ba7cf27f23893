local say = ...
return {
  title = "One column too many",
  question = "A GPU cuts the result of a matrix product into tiles, and each of its multiprocessors computes one tile at a time: "
    .. "an A100 has 108, so 108 tiles are one wave. A wave takes as long when it is nearly empty as when it is full. A result of "
    .. "1,024 x 3,456 numbers in tiles of 64 x 64 is 16 x 54 tiles: 864, exactly eight waves. Yours has $width columns.",
  ask = "That is less than 1 % more arithmetic. How many percent longer does it take than with 3,456 columns?",
  task = "Choose a width from $width to 4000 with which the GPU does at least 7 % more FLOP in a second.",
  numbers = { width = { 3457, 3460, 3464, 3472 } },
  settings = { { "width", nil, "columns of the right matrix", 64, 4000 } },
  change = { "width" },
  scenario = [[
local sim = require "lockstep"
return sim.program {
  title = "A product", on = sim.cluster { node = "dgx-a100", gpus = 1 },
  rank = function(r) r:compute { gemm = { m = 1024, n = set.width, k = 4096 }, precision = "bf16" } end,
}]],
  guess = { unit = "%", within = 0.35, give = 1, answer = function(old, n, run) return 100 * (old.step_time / run { width = 3456 }.step_time - 1) end },
  goal = function(new, old, set, usual)
    if set.width < usual.width then return "That is narrower than what is needed." end
    local gain = (set.width / new.step_time) / (usual.width / old.step_time) - 1
    return say.least("It does more FLOP in a second by", say.percent, gain, 0.07)
  end,
  hints = {
    "$width columns need 55 columns of tiles: 880 tiles. After eight full waves 16 are left. How many multiprocessors work then?",
    "The ninth wave is paid for, whether 16 tiles are in it or 108: columns that fill it cost next to nothing.",
    "Nine waves have room for 972 tiles, 16 x 60 of them fit in: width = 60 x 64 = 3840.",
  },
  notice = function(new, old, n, set)
    return ("$width columns took %s: eight full waves, and one with 16 tiles in it. The new width takes %s, and does %s more FLOP in a second, because the last wave is fuller. Widths of models are rounded up to such numbers for this reason."):format(
      say.time(old.step_time), say.time(new.step_time), say.percent((set.width / new.step_time) / (n.width / old.step_time) - 1))
  end,
  formula = "waves = tiles / multiprocessors, rounded up; time is roughly waves x time of one. Limits: a library has tiles of several sizes and takes the quickest; the end of one wave overlaps the next, so that a ninth costs a little less than an eighth more.",
  measured = { "first-contact", "A100-SXM4-80GB  gemm bf16", "products of one A100, shape by shape" },
  solution = { width = 3840 },
  right = { { guess = 12.5 }, { change = { width = 3800 } } },
  wrong = {
    { guess = 100, why = "Twice as long would be one whole wave after another; here one comes after eight." },
    { guess = 0, why = "The arithmetic is nearly the same, but the tiles beyond eight waves need a ninth." },
    { change = { width = 3584 }, why = "A rounder number, but two thirds of its last wave are empty." },
    { change = { width = 4000 }, why = "There a tenth wave has begun." },
    { change = { width = 3456 }, why = "That is narrower than what is needed." },
  },
}
