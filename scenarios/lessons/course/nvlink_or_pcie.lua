local say = ...
return {
  title = "The road between two GPUs",
  question = "Eight GPUs of one machine add up $mib MiB of gradients. They are on PCIe: every byte goes over slots of some "
    .. "25 GB/s that they share. There are machines with the same GPUs on NVLink, 300 GB/s a GPU and direction.",
  ask = "How many times as fast is the all-reduce on NVLink?",
  task = "Choose a machine of eight A100 on which it takes at most a fifth.",
  numbers = { mib = { 256, 384, 512, 768, 1024 } },
  settings = {
    { "node", "pcie-8gpu-a100", "type of machine of eight A100 (lockstep hw list node)",
      of = { "pcie-8gpu-a100", "lambda-scalar-a100", "dgx-a100", "dgx-a100-80gb", "dgx-a100-40gb", "lambda-hyperplane-a100", "lambda-8x-a100-80gb",
             "aws-p4d.24xlarge", "aws-p4de.24xlarge", "azure-nd96asr-v4", "azure-nd96amsr-a100-v4", "gcp-a2-highgpu-8g", "gcp-a2-ultragpu-8g",
             "oci-bm.gpu4.8", "oci-bm.gpu.a100-v2.8", "crusoe-a100-ib.8x" } },
    { "mib", nil, "MiB on each GPU" },
  },
  change = { "node" },
  scenario = [[
local sim = require "lockstep"
return sim.program {
  title = "An all-reduce in one machine",
  on = sim.cluster { node = set.node, gpus = 8 },
  rank = function(r) r:all_reduce { bytes = set.mib * 1024 * 1024 } end,
}]],
  guess = {
    unit = "times", within = 0.35,
    answer = function(old, n, run) return old.step_time / run { node = "dgx-a100" }.step_time end,
  },
  goal = function(new, old) return say.quicker(new, old, 1 / 5) end,
  hints = {
    "All eight send and receive at once, so the road that counts is the one that all of them share.",
    "On PCIe, GPUs meet at switches and at the processor; with NVLink each has its own links into a switch. The ratio of what one GPU gets is the ratio of the times.",
    "node = \"dgx-a100\", the same GPUs on NVSwitch.",
  },
  notice = function(new, old, n)
    local bytes = 2 * 7 / 8 * n.mib * 2 ^ 20
    return ("%s on PCIe, %s on NVLink: a GPU sends %.3g GB/s over the one, and %.3g over the other. What is printed on a slot is shared, and is not all attained."):format(
      say.time(old.step_time), say.time(new.step_time), bytes / old.step_time / 1e9, bytes / new.step_time / 1e9)
  end,
  formula = "time = 2 (n - 1) / n x bytes / bandwidth of the narrowest road that a ring passes. Limits: large messages; a switch that adds up by itself (NVLink SHARP) sends half.",
  measured = { "collectives-accuracy", "SmartIO A100 PCIe", "all-reduces of A100 on PCIe, measured with nccl-tests" },
  solution = { node = "dgx-a100" },
  right = { { change = { node = "aws-p4d.24xlarge" } } },
  wrong = {
    { guess = 2, why = "That is one PCIe generation. NVLink is another road altogether." },
    { guess = 100, why = "No: 300 GB/s against some 25 GB/s at best." },
    { change = { node = "lambda-scalar-a100" }, why = "That machine has PCIe as well." },
  },
}
