-- student_cluster.lua: why are 4 GPUs slower than 2, and is a 5 GbE switch worth 41,000 Rs?
--
-- Published: a university report, "Clustering GPU for Multinode Training": ResNet-152 with PyTorch DDP on two PCs with
-- one RTX 3060 each and one PC with two RTX 4080, joined by a plain LAN. Total seconds for three batch sizes and three
-- clusters. Data set, image size, epochs and LAN speed are not stated. What is assumed here: 1 GbE (an upgrade to 5 GbE
-- is planned), the batch is per GPU, the single GPU is a 3060, the pair is the 4080s, TF32 convolutions (PyTorch's
-- default). Fitted on the rows of batch 64 and 256: images in all, host work per step, and the speed at which the two
-- 4080s reach each other (their slots are not stated, and GeForce cards copy through host memory). Batch 128 is then a
-- prediction.
local sim = require "lockstep"

local opt = sim.options {
  batch = { default = 256, values = { 64, 128, 256 }, help = "batch size for the upgrade question" },
  runs  = { default = 100, min = 1, help = "training runs over which the upgrade is paid back" },
}

local source = "student report"
local measured = {
  { batch = 64,  gpus = 1, seconds = 274.44 }, { batch = 64,  gpus = 2, seconds = 236.74 }, { batch = 64,  gpus = 4, seconds = 1500.00 },
  { batch = 128, gpus = 1, seconds = 210.58 }, { batch = 128, gpus = 2, seconds = 131.51 }, { batch = 128, gpus = 4, seconds = 1059.38 },
  { batch = 256, gpus = 1, seconds = 180.45 }, { batch = 256, gpus = 2, seconds = 80.25 },  { batch = 256, gpus = 4, seconds = 547.88 },
}

local function cluster(gpus, bytes_per_second, lan)
  local pcie = string.format("%.17g B/s", bytes_per_second)
  if gpus == 1 then return sim.cluster { node = "rtx3060-workstation", gpus = 1 } end
  if gpus == 2 then return sim.cluster { node = "rtx4080x2-workstation", gpus = 2, pcie = pcie } end
  return sim.cluster { fabric = sim.single_switch { link = lan },
    nodes = { { node = "rtx3060-workstation", gpus = 2 }, { node = "rtx4080x2-workstation", gpus = 2, pcie = pcie } } }
end

local function job(unknown, batch)
  return sim.training {
    model = sim.model.resnet { depth = 152, image_size = unknown.image_size, classes = 10 },
    batch = { micro = batch }, precision = "tf32", framework = "eager", optimizer = "sgd",
    samples = unknown.images // 1, cpu_per_step = string.format("%.17g s", unknown.cpu_per_step),
  }
end

local function seconds(unknown, batch, gpus, lan)
  return sim.simulate { on = cluster(gpus, unknown.pcie, lan or "eth-1g"), run = job(unknown, batch) }.total_time
end

-- The image size is a whole number of pixels, so it is tried out; the other three are fitted for each.
local best
for _, image_size in ipairs { 32, 64, 96, 128 } do
  local fitted = sim.fit {
    unknowns = { images = { start = 1e5, min = 1e3, max = 1e7 }, cpu_per_step = { start = 0.02, min = 1e-4, max = 1 },
                 pcie = { start = 4e9, min = 2e8, max = 3e10 } },
    rows = measured, measured = "seconds", use = function(row) return row.batch ~= 128 end,
    predict = function(unknown, row)
      return seconds({ images = unknown.images, cpu_per_step = unknown.cpu_per_step, pcie = unknown.pcie, image_size = image_size },
                     row.batch, row.gpus)
    end,
  }
  if not best or fitted.rms < best.rms then
    best = { images = fitted.images, cpu_per_step = fitted.cpu_per_step, pcie = fitted.pcie, image_size = image_size,
             rms = fitted.rms, sigma = fitted.sigma }
  end
end

local rows = {}
for _, m in ipairs(measured) do
  rows[#rows + 1] = { unit = "s", published = m.seconds, simulated = seconds(best, m.batch, m.gpus), source = source,
    name = string.format("batch %d, %d GPU%s%s", m.batch, m.gpus, m.gpus > 1 and "s" or "", m.batch == 128 and " (predicted)" or " (fitted)") }
end

local notes = {
  string.format("fitted: %.0f thousand images in all (± %.0f %%), %.1f ms of host work per step (± %.0f %%), %.1f GB/s to each 4080 (± %.0f %%), %d px; rms %.0f %%",
    best.images / 1000, 100 * best.sigma.images, 1000 * best.cpu_per_step, 100 * best.sigma.cpu_per_step, best.pcie / 1e9,
    100 * best.sigma.pcie, best.image_size, 100 * best.rms),
}
local today, pair = seconds(best, opt.batch, 4, "eth-1g"), seconds(best, opt.batch, 2)
local exposed = sim.simulate { on = cluster(4, best.pcie, "eth-1g"), run = job(best, opt.batch) }
notes[#notes + 1] = string.format("why 4 GPUs are slow: %.0f %% of a step waits for gradients on the wire; without it the mixed cards would take %.0f s",
  100 * exposed.exposed.dp / exposed.step_time, seconds(best, opt.batch, 4, "eth-400g"))

-- What the upgrade costs: the machines are there (node_price 0), the network is bought. The report says what 5 GbE
-- costs; faster networks at the catalogue's prices, in rupees at its dated rate. The boards have Gigabit Ethernet, so
-- every PC needs a NIC.
local stated = { ["eth-5g"] = { switch_price = 17000, nic_price = 8000, cable_price = 0 } }
local function rupees(amount) return (string.format("%.0f", amount):reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "")) end
local function upgrade(lan)
  local own = { site = "office", currency = "INR", node_price = 0, years = 4 }
  for field, amount in pairs(stated[lan] or {}) do own[field] = amount end
  return sim.cost { on = sim.cluster { fabric = sim.single_switch { link = lan }, own = own,
    nodes = { { node = "rtx3060-workstation", gpus = 2 }, { node = "rtx4080x2-workstation", gpus = 2 } } } }
end

for _, lan in ipairs { "eth-5g", "eth-10g", "eth-25g", "eth-100g" } do
  local after = seconds(best, opt.batch, 4, lan)
  local saved, money = (today - after) / 3600, upgrade(lan)
  notes[#notes + 1] = string.format("%s: %.0f s instead of %.0f s at batch %d%s; %s Rs (%d switch, %d NICs) for %.2f hours a run: %s Rs per hour saved over %d runs",
    lan, after, today, opt.batch,
    after > pair and string.format(" (the two 4080s alone take %.0f s)", pair) or " (faster than the two 4080s alone)",
    rupees(money.capital), money.bought.switches.count // 1, money.bought.nics.count // 1, saved,
    rupees(money.capital / (saved * opt.runs)), opt.runs)
end

return sim.report { title = "Student cluster: ResNet-152 on 2 x RTX 3060 and 2 x RTX 4080", rows = rows, notes = notes }
