-- The course: what every problem is made of, how a file is written for it, and when a guess or a change is right.
--
-- A problem is a file beside this one that returns a table: docs/course.md says what stands in it. Numbers differ by
-- seed; figures are those of the engine, when they are asked for.
local host, files = ...
local sim = require "lockstep"
local course = {}

local tracks = {
  "One GPU", "Moving data", "Data parallel", "Splitting a model",
  "Memory", "The cluster", "Weeks and money", "Reading a published run",
}
local RULE = ("-"):rep(100)
local UNSURE = 1 / 3                               -- chance to run out of memory, above which nothing is solved

-- ---- Words for figures, for problems to speak in.

local say = {}

local function scaled(value, units, digits)
  local unit = units[#units]
  for i = #units, 1, -1 do
    if math.abs(value) >= units[i][1] then unit = units[i] end
  end
  return ("%%.%dg %%s"):format(digits or 3):format(value / unit[1], unit[2])
end

function say.time(seconds, digits)
  return scaled(seconds, { { 3600, "h" }, { 60, "min" }, { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" } }, digits)
end
function say.days(days, digits) return ("%%.%dg days"):format(digits or 3):format(days) end
function say.percent(share, digits) return ("%%.%df %%%%"):format((digits or 3) - 3):format(share * 100) end
function say.times(factor) return (factor < 10 and "%.2g times" or "%.0f times"):format(factor) end
function say.bytes(bytes, digits)
  return scaled(bytes, { { 2 ^ 40, "TiB" }, { 2 ^ 30, "GiB" }, { 2 ^ 20, "MiB" }, { 2 ^ 10, "KiB" } }, digits)
end
function say.whole(number) return (("%.0f"):format(number):reverse():gsub("%d%d%d", "%0,"):reverse():gsub("^,", "")) end
function say.number(number, digits) return ("%%.%dg"):format(digits or 3):format(number) end
function say.money(amount, digits)
  return scaled(amount, { { 1e9, "billion USD" }, { 1e6, "million USD" }, { 1e3, "thousand USD" }, { 1, "USD" } }, digits)
end

-- A figure and the one that was asked for, with as many digits as tell them apart.
local function apart(how, value, asked)
  for digits = 3, 8 do
    if how(value, digits) ~= how(asked, digits) then return how(value, digits), how(asked, digits) end
  end
  return how(value), how(asked)
end

-- Whether a figure is at most, or at least, what is asked for; a sentence where not.
function say.most(what, how, value, asked)
  return value <= asked or (what .. " %s. At most %s are asked for."):format(apart(how, value, asked))
end
function say.least(what, how, value, asked)
  return value >= asked or (what .. " %s. At least %s are asked for."):format(apart(how, value, asked))
end
-- Whether it takes at most this share of the time that it took.
function say.quicker(new, old, share)
  return say.most(("A step took %s, and takes"):format(say.time(old.step_time)), say.time, new.step_time, share * old.step_time)
end
-- Whether so many times as much is done in a second.
function say.more(new, old, factor, what)
  return say.least("How many times as much it does in a second as before:", say.number, new[what] / old[what], factor)
end
function say.smaller(new, bytes) return say.most("It takes a memory of", say.bytes, new.memory, bytes) end
function say.share(answer, ...)                    -- of a step that these causes take
  local sum = 0
  for _, cause in ipairs { ... } do sum = sum + (answer.exposed[cause] or 0) end
  return sum / answer.step_time
end

-- ---- Problems.

local function draw(seed, key, count)              -- FNV-1a: which of `count`, the same on every machine
  local hash = 0xcbf29ce484222325
  for _, byte in ipairs { (seed .. "/" .. key):byte(1, -1) } do hash = (hash ~ byte) * 0x100000001b3 end
  return ((hash >> 33) % count) + 1
end

local function literal(value)
  return type(value) == "string" and '"' .. value .. '"' or tostring(value)
end

local order                                        -- { id, name, track } of all
local function all()
  if order then return order end
  order = {}
  local last, index = 0, 0
  for _, file in ipairs(files) do
    index = file.track == last and index + 1 or 1
    last = file.track
    order[#order + 1] = { id = ("%d.%d"):format(file.track, index), name = file.name, track = file.track, text = file.text }
  end
  return order
end

local function find(word)
  for _, row in ipairs(all()) do
    if row.id == word or row.name == word then return row end
  end
end

-- "$micro sequence(s)" of numbers or settings: their values, and one or many of it.
local function fill(text, numbers)
  text = text:gsub("%$([%a_]+) (%a+)%(s%)", function(name, what)
    return ("$%s %s"):format(name, numbers[name] == 1 and what or what .. "s")
  end)
  return (text:gsub("%$([%a_]+)", function(name)
    if numbers[name] == nil then error("a problem speaks of $" .. name .. ", which it does not have") end
    return tostring(numbers[name])
  end))
end

local known = {}
local function problem(row, seed)
  local key = row.id .. "/" .. seed
  if known[key] then return known[key] end
  local said = host.compile(row.text, row.name .. ".lua")(say)
  local p = { id = row.id, name = row.name, track = row.track, seed = seed, said = said, numbers = {} }
  for name, choices in pairs(said.numbers or {}) do
    p.numbers[name] = choices[draw(seed, row.name .. "/" .. name, #choices)]
  end
  p.usual = {}
  for _, setting in ipairs(said.settings) do
    local value = setting[2]
    p.usual[setting[1]] = type(value) == "string" and fill(value, p.numbers) or value
    if value == nil then p.usual[setting[1]] = p.numbers[setting[1]] end
    if p.usual[setting[1]] == nil then error(row.name .. " has no number for its setting " .. setting[1]) end
  end
  p.free = {}
  for _, name in ipairs(said.change) do p.free[name] = true end
  for name, value in pairs(p.usual) do if p.numbers[name] == nil then p.numbers[name] = value end end
  known[key] = p
  return p
end

local function text_of(p, field) return p.said[field] and fill(p.said[field], p.numbers) end

-- What a problem says as a text, or as a function of what the engine answered.
local function words(p, what, new, old, set)
  if type(what) == "function" then what = what(new, old, p.numbers, set) end
  return what and fill(what, p.numbers)
end

-- ---- The file that a student changes.

local function fold(text, width)
  local lines, line = {}, ""
  for word in text:gmatch("%S+") do
    if #line > 0 and #line + 1 + #word > width then
      lines[#lines + 1] = line
      line = word
    else
      line = #line > 0 and line .. " " .. word or word
    end
  end
  lines[#lines + 1] = line
  return lines
end

local function head_of(p)
  local lines = { ("-- Problem %s of lockstep's course, numbers of seed %d: %s"):format(p.id, p.seed, text_of(p, "title")), "--" }
  local function paragraph(text)
    for _, line in ipairs(fold(text, 96)) do lines[#lines + 1] = "-- " .. line end
  end
  paragraph(text_of(p, "question"))
  paragraph(("1. Guess before you run anything: %s  lockstep lesson guess %s.lua VALUE"):format(text_of(p, "ask"), p.name))
  paragraph(("2. %s  Change the table below, nothing else; then: lockstep lesson check %s.lua"):format(text_of(p, "task"), p.name))
  return lines
end

local function guess_help(p)
  local guess = p.said.guess
  if guess.choices then return "one of " .. table.concat(guess.choices, ", ") end
  return ("in %s, within %.0f %%"):format(guess.unit, 100 * (guess.within or 0.25))
end

local function what_of(setting)
  local _, _, what, least, most = table.unpack(setting, 1, 5)
  return most and ("%s, %d to %d"):format(what, least, most) or what
end

-- What a setting may be, where a problem does not say it itself: those that teach, from slow to quick.
local texts = {
  recompute = { "none", "selective", "full" },
  fabric = { "eth-1g", "eth-10g", "eth-25g", "eth-100g", "roce-100", "roce-400", "ib-edr100", "ib-hdr100", "ib-hdr200", "ib-ndr400", "ib-xdr800" },
  node = { "dgx-1-p100", "dgx-1", "dgx-2", "pcie-8gpu-a100", "lambda-scalar-a100", "dgx-a100", "dgx-h100", "dgx-b200" },
  storage = { "nfs-1gbe", "nfs-2.5gbe", "nfs-10gbe", "nfs-100gbe", "hdd", "local-sata-ssd", "local-nvme", "local-nvme-raid" },
}
local function may_be(p, setting)                   -- nil: any of its kind
  return setting.of or type(p.usual[setting[1]]) == "string" and texts[setting[1]] or nil
end

local function file_of(p, set, guess)
  local lines = head_of(p)
  lines[#lines + 1] = "local set = {"
  local function row(name, value, help)
    lines[#lines + 1] = ("  %-28s -- %s"):format(("%s = %s,"):format(name, literal(value)), help)
  end
  row("guess", guess, guess_help(p))
  for _, setting in ipairs(p.said.settings) do
    local value = set[setting[1]]
    if value == nil then value = p.usual[setting[1]] end
    row(setting[1], value, (p.free[setting[1]] and "yours: " or "fixed: ") .. what_of(setting))
  end
  lines[#lines + 1] = "}"
  lines[#lines + 1] = RULE
  for line in (fill(p.said.scenario, p.numbers) .. "\n"):gmatch("(.-)\n") do lines[#lines + 1] = line end
  while lines[#lines] == "" do lines[#lines] = nil end
  return table.concat(lines, "\n") .. "\n"
end

-- ---- Asking the engine.

local opened                                       -- the student's file: its name, and the line where its table ends

-- What is asked, with its lines where the student's file has them.
local function program_of(p, set)
  local text = file_of(p, set)
  local first, last = text:find("local set = {\n.-\n}\n")
  local table_text, above = text:sub(first, last):gsub("%-%-[^\n]*", ""), select(2, text:sub(1, last):gsub("\n", ""))
  return ("\n"):rep((opened and opened.line or above) - 1) .. table_text:gsub("\n", " ") .. "\n" .. text:sub(last + 1)
end

local answers = {}
local function run(p, set)
  local key = p.id .. "/" .. p.seed
  for _, setting in ipairs(p.said.settings) do
    local value = set[setting[1]]
    key = key .. "/" .. tostring(value == nil and p.usual[setting[1]] or value)
  end
  if answers[key] then return answers[key] end
  local answer, why = host.attempt(function()
    local made = host.compile(program_of(p, set), opened and opened.name or p.name .. ".lua")()
    if type(made) ~= "table" then return sim.simulate(made) end
    local list = {}
    for i, item in ipairs(made) do list[i] = sim.simulate(item) end
    return list
  end)
  answer = answer or { ran = false, why_not = why }
  answers[key] = answer
  return answer
end

local function with(p, changes)
  local set = {}
  for name, value in pairs(p.usual) do set[name] = value end
  for name, value in pairs(changes) do set[name] = type(value) == "string" and fill(value, p.numbers) or value end
  return set
end

-- ---- Guesses.

local function close(p, guess, truth)
  local said = p.said.guess
  if said.choices then return guess == truth end
  local within = said.within or 0.25
  return math.abs(guess - truth) <= within * math.abs(truth) + (said.give or 0)
end

-- An answer whose figures and causes of time are noted when they are read: what a question is judged by.
local function watched(answer, looked_at)
  if #answer > 0 then return answer end            -- several runs: their steps are shown
  return setmetatable({}, { __index = function(_, name)
    if name == "exposed" then return watched(answer.exposed, looked_at) end
    looked_at[name] = true
    return answer[name]
  end })
end

local function truth_of(p, looked_at)
  local old = run(p, p.usual)
  return p.said.guess.answer(watched(old, looked_at or {}), p.numbers, function(changes) return run(p, with(p, changes)) end), old
end

local function guess_of(p, named, old)
  local value = named.guess
  if type(value) == "function" then value = value(old, p.numbers) end
  return value
end

local function judge_guess(p, guess, looked_at)
  local truth, old = truth_of(p, looked_at)
  local right, why = close(p, guess, truth)
  if not right then
    for _, wrong in ipairs(p.said.wrong or {}) do
      local value = wrong.guess and guess_of(p, wrong, old)
      if value ~= nil and (value == guess or (type(value) == "number" and math.abs(guess - value) <= 0.1 * math.abs(value))) then
        why = words(p, wrong.why, old, old)
        break
      end
    end
  end
  return right, truth, why
end

local function shown(p, value)
  local guess = p.said.guess
  local whole = guess.choices == nil and math.abs(value) >= 1000 and math.abs(value) < 1e9
  return guess.choices and tostring(value) or (whole and "%.0f %s" or "%.3g %s"):format(value, guess.unit)
end

local units = {                                    -- that may be said in place of a problem's own, in one of its kind
  us = { "time", 1e-6 }, ms = { "time", 1e-3 }, s = { "time", 1 }, min = { "time", 60 }, h = { "time", 3600 },
  day = { "time", 86400 }, days = { "time", 86400 },
  MB = { "bytes", 1e6 }, GB = { "bytes", 1e9 }, TB = { "bytes", 1e12 },
  MiB = { "bytes", 2 ^ 20 }, GiB = { "bytes", 2 ^ 30 }, TiB = { "bytes", 2 ^ 40 },
  times = { "times", 1 }, x = { "times", 1 }, ["×"] = { "times", 1 }, ["%"] = { "share", 1 }, percent = { "share", 1 },
}

-- "12", "12 ms", "0.012 s", "14x"; a choice, in capitals or not. nil, why it is none.
local function read_guess(p, text)
  local guess = p.said.guess
  if guess.choices then
    for _, choice in ipairs(guess.choices) do if choice == text:match("^%s*(.-)%s*$"):lower() then return choice end end
    return nil, ("the guess is one of %s"):format(table.concat(guess.choices, ", "))
  end
  local number, unit = text:match("^%s*([+-]?[%d.]+[eE]?[+-]?%d*)%s*(.-)%s*$")
  number = tonumber(number)
  local said, own = units[unit], units[guess.unit]
  if number and (unit == "" or unit == guess.unit) then return number end
  if number and said and own and said[1] == own[1] then return said[2] == own[2] and number or number * said[2] / own[2] end
  return nil, ("the guess is a number, in %s"):format(guess.unit)
end

-- A number below 1 without a unit, where a percentage is asked for, may be a share: why it is asked again.
local function share_or_percent(p, text)
  local number = tonumber(text)
  if p.said.guess.unit ~= "%" or not number or number <= 0 or number >= 1 then return nil end
  return ("is %g a share, %g %%, or is it %g %%? Say it with its unit"):format(number, 100 * number, number)
end

-- What cannot be meant, before it is put down: more than all, or a thousand times off. nil where it can be.
local function slip_of(p, guess)
  local said = p.said.guess
  if said.choices or guess == 0 then return nil end
  if guess < 0 then return "the guess is below 0" end
  if said.most and guess > said.most then return ("the guess is %d %s at most"):format(said.most, said.unit) end
  local factor = guess / truth_of(p)
  if factor < 999 and factor > 1 / 999 then return nil end
  local kind = units[said.unit]
  local remedy = kind and (kind[1] == "time" or kind[1] == "bytes") and (": is it in %s?"):format(said.unit) or ""
  return ("%s is off by a factor of a thousand or more%s"):format(shown(p, guess), remedy)
end

-- ---- Changes.

local function same(one, other)
  for name, value in pairs(one) do if other[name] ~= value then return false end end
  for name in pairs(other) do if one[name] == nil then return false end end
  return true
end

local function changes_of(p, set)
  local changes = {}
  for name, value in pairs(set) do if value ~= p.usual[name] then changes[name] = value end end
  return changes
end

-- Why a value is none of those that a setting may be, and which these are; nil where it may. Parts by name are the
-- catalogue's to know.
local function no_choice(p, name, value)
  for _, setting in ipairs(p.said.settings) do
    local list = setting.of or name == "recompute" and texts.recompute
    if setting[1] == name and list and p.free[name] then
      for _, one in ipairs(list) do if one == value then return nil end end
      return ("%s is no %s here"):format(literal(value), name), "one of " .. table.concat(list, ", ")
    end
  end
end

-- Whether a change solves the problem, and why not; both answers.
local function judge_change(p, set, looked_at)
  local old, changes = run(p, p.usual), changes_of(p, set)
  if not next(changes) then return false, "Nothing has been changed yet: the lines marked \"yours\" are to be.", old, old end
  for name in pairs(changes) do
    if not p.free[name] then
      return false, ("%s is part of the question, and stays %s."):format(name, literal(p.usual[name])), old, old
    end
  end
  for _, setting in ipairs(p.said.settings) do
    local name, _, _, least, most = table.unpack(setting, 1, 5)
    if most and (set[name] < least or set[name] > most or set[name] % 1 ~= 0) then
      return false, ("%s is a whole number from %d to %d here."):format(name, least, most), old, old
    end
  end
  local new = run(p, set)
  local verdict
  if new.ran == false then
    verdict = "It does not run: " .. tostring(new.why_not)
  elseif (new.chance_to_run_out or 0) > UNSURE and not p.said.may_not_fit then
    verdict = ("It does not surely fit: with %s memory runs out with a chance of %s."):format(say.bytes(new.memory), say.percent(new.chance_to_run_out))
  else
    verdict = p.said.goal(watched(new, looked_at or {}), watched(old, looked_at or {}), set, p.usual)
  end
  if verdict == true then return true, nil, new, old end
  for _, wrong in ipairs(p.said.wrong or {}) do
    if wrong.change and same(changes_of(p, with(p, wrong.change)), changes) then
      return false, words(p, wrong.why, new, old, set) .. (new.ran == false and " (" .. tostring(new.why_not) .. ")" or ""), new, old
    end
  end
  return false, verdict and fill(verdict, p.numbers) or "Not yet.", new, old
end

-- ---- Reading a student's file: only the table counts, and only plain values stand in it.

local function plain_value(text)
  if text == "nil" then return nil, true end
  if text == "true" or text == "false" then return text == "true", true end
  local quoted = text:match('^"([^"\\]*)"$') or text:match("^'([^'\\]*)'$")
  if quoted then return quoted, true end
  if text:match("^[%d.eE+x-]+$") and tonumber(text) then return tonumber(text), true end
  return nil, false
end

local function mistake(line, text, hint) return { problem = text, line = line, hint = hint } end

-- The problem of a file by its first line, and its seed; nil for another text.
local function whose(text)
  local id, seed = text:match("^%-%- Problem ([%d.]+) of lockstep's course, numbers of seed (%d+)")
  seed = id and math.tointeger(tonumber(seed))
  return seed and find(id), seed
end

local function no_file()
  return mistake(1, "this is no file of the course", "lockstep lesson start 2.1 writes one; its first line says which problem it is")
end

local function read_file(text, file)
  text = text:gsub("\r\n", "\n")
  local row, seed = whose(text)
  if not row then return nil, no_file() end
  local p, set, guess = problem(row, seed), {}, nil
  local number, inside, done, ended, seen, rest = 0, false, false, nil, {}, {}
  for line in (text .. "\n"):gmatch("(.-)\n") do
    number = number + 1
    if done then
      rest[#rest + 1] = line
    elseif not inside then
      inside = line:match("^local set = {%s*$") ~= nil
    elseif line:match("^}%s*$") then
      done, ended = true, number
    else
      local code = line:gsub("%-%-.*$", "")
      local name, value = code:match("^%s*([%a_][%w_]*)%s*=%s*(.-)%s*,?%s*$")
      if name and p.usual[name] == nil and name ~= "guess" then
        return nil, mistake(number, ("the table has no \"%s\""):format(name), "lockstep lesson start writes it again, in another folder")
      elseif name and seen[name] then
        return nil, mistake(number, ("\"%s\" stands twice"):format(name), "keep one of the lines")
      elseif name then
        local read, plain = plain_value(value)
        if not plain then return nil, mistake(number, ("%s is no plain value"):format(name), "a number, a text in quotes, true or false") end
        if name ~= "guess" and type(read) ~= type(p.usual[name]) then
          return nil, mistake(number, ("%s is a %s here"):format(name, type(p.usual[name])), ("it was %s"):format(literal(p.usual[name])))
        end
        local why, choices = no_choice(p, name, read)
        if why then return nil, mistake(number, why, choices) end
        seen[name] = number
        if name == "guess" then guess = read else set[name] = read end
      elseif code:match("%S") then
        return nil, mistake(number, "this line cannot be read", "a line says NAME = VALUE, and nothing else")
      end
    end
  end
  if not done then return nil, mistake(number, "the table of settings is gone", "it begins with \"local set = {\" and ends with \"}\"") end
  while rest[#rest] == "" do rest[#rest] = nil end
  local whole = file_of(p, {})
  local below = whole:sub(whole:find("\n}\n", 1, true) + 3)
  local at = 0
  for line in below:gmatch("(.-)\n") do
    at = at + 1
    if not rest[at] or rest[at]:gsub("%s+$", "") ~= line:gsub("%s+$", "") then
      return nil, mistake(nil, "something below the table is not as it was: " .. (line ~= "" and "\"" .. line .. "\"" or "an empty line"),
                          "only the table may change; lockstep lesson start writes the file again, in another folder")
    end
  end
  if #rest > at then return nil, mistake(nil, "there are lines below the scenario that were not there", "only the table may change") end
  for name, value in pairs(p.usual) do if set[name] == nil then set[name] = value end end
  opened = { name = file, line = ended }
  if guess ~= nil then
    local read, why = read_guess(p, tostring(guess))
    why = why or slip_of(p, read)
    if why then return nil, mistake(seen.guess, why, "lockstep lesson guess FILE VALUE puts it down") end
    guess = read
  end
  return { problem = p, set = set, guess = guess, text = text }
end

-- ---- What is measured of it: the line of a page of docs that a test holds against the measurements.

local pages = {                                    -- what stands above its rows, how they go on, and what they say
  ["training-accuracy"] = { "rows +in sight +left out", "^ +(%d+) +[%d.]+ +([%d.]+)", "%s runs, predicted without them within %s %% on average" },
  ["collectives-accuracy"] = { "machine left out +logs +median %%", "^ +(%d+) +([%d.]+)", "%s logs, predicted without them within %s %% in the median" },
  ["first-contact"] = { "kernel +rows median", "^ +(%d+) +([%d.]+)", "%s rows below 0.1 ms, predicted before they were seen within %s %% in the median" },
  ["critical-batch"] = { "points +B_c +B_c/B_min +to 8x", "^ +(%d+) +%S+ +%S+ +([%d.]+) ?%%", "%s runs, the data they need predicted without them within %s %%" },
  ["goodput"] = { "published +simulated +error", "^ +(>? ?%S+) +(%S+) +[+-]", "published %s, simulated %s" },
}

local function measured_of(p)
  local said = p.said.measured
  if not said then return nil end
  local page, family, below = said[1], said[2], false
  local heading, rest, words_of = table.unpack(pages[page])
  for line in host.page(page):gmatch("[^\n]+") do
    local one, other
    below = below or line:find(heading) ~= nil
    if below and line:sub(1, #family) == family then one, other = line:sub(#family + 1):match(rest) end
    if one then
      return ("%s (%s: %s; docs/%s.md)"):format(fill(said[3], p.numbers), family, words_of:format(one, other), page)
    end
  end
  error(("problem %s rests on %s, of which docs/%s.md has no line as it is read here"):format(p.id, family, page))
end

-- ---- A line of a progress code: what was guessed and changed, so that a teacher's program can do it again.

local function code_line(p, set, guess)
  local parts, changes = {}, changes_of(p, set)
  for _, setting in ipairs(p.said.settings) do
    if changes[setting[1]] ~= nil then parts[#parts + 1] = ("%s=%s"):format(setting[1], literal(changes[setting[1]])) end
  end
  return ("%s seed=%d guess=%s %s"):format(p.id, p.seed, literal(guess), table.concat(parts, " "))
end

-- ---- What the program asks.

local function of_track(track, tell)                -- nil: of all
  local list = {}
  for _, row in ipairs(all()) do
    if not track or tostring(row.track) == track then list[#list + 1] = tell(row) end
  end
  if #list == 0 then return { problem = ("there is no track %s"):format(track), hint = "tracks count from 1 to " .. #tracks } end
  return list
end

local paths = {                                    -- through the course, as docs/course.md has them
  { "90 minutes", "from minute %s on", { ["0"] = "2.1", ["10"] = "2.2 2.4 2.5", ["35"] = "2.6 2.7", ["50"] = "3.1 3.2 4.2", ["70"] = "6.1" } },
  { "six weeks", "week %s", { ["1"] = "1.4 1.1 1.2 1.3 1.6 1.5", ["2"] = "2.1 2.2 2.3 2.4 2.5 2.7", ["3"] = "2.6 3.1 3.2 3.4 3.5 8.5",
                              ["4"] = "4.2 4.1 4.3 4.4 4.5 8.3", ["5"] = "5.1 5.2 5.3 5.4 5.6 8.1", ["6"] = "6.1 6.2 6.3 6.5 7.1 7.4 7.6 8.4" } },
}

local function paths_of(id)                        -- "90 minutes: from minute 0 on; six weeks: week 2"
  local list = {}
  for _, path in ipairs(paths) do
    for when, ids in pairs(path[3]) do
      if (" " .. ids .. " "):find(" " .. id .. " ", 1, true) then list[#list + 1] = path[1] .. ": " .. path[2]:format(when) end
    end
  end
  return table.concat(list, "; ")
end

-- What it says to everyone, whatever is guessed and changed.
local function words_of(p)
  local said = { text_of(p, "title"), text_of(p, "question"), text_of(p, "ask"), text_of(p, "task"), text_of(p, "formula") }
  for i = 1, 3 do said[#said + 1] = fill(p.said.hints[i], p.numbers) end
  return table.concat(said, " ")
end

function course.list(track)
  return of_track(track, function(row)
    local p = problem(row, 1)
    return { id = row.id, name = row.name, track = tracks[row.track], title = text_of(p, "title"), paths = paths_of(row.id), words = words_of(p) }
  end)
end

local function next_of(p)
  local rows = all()
  for i, row in ipairs(rows) do
    if row.id == p.id then return rows[i + 1] and rows[i + 1].id end
  end
end

local function asked(p, answers_too)
  local told = {
    id = p.id, name = p.name, track = tracks[p.track], seed = p.seed, title = text_of(p, "title"), question = text_of(p, "question"),
    ask = text_of(p, "ask"), guess_help = guess_help(p), guess_unit = p.said.guess.unit,
    guess_may_be = p.said.guess.choices and table.concat(p.said.guess.choices, ", "), task = text_of(p, "task"), text = file_of(p, {}), file = p.name .. ".lua",
    settings = {},
  }
  for i, setting in ipairs(p.said.settings) do
    told.settings[i] = { name = setting[1], value = literal(p.usual[setting[1]]), help = what_of(setting),
                         free = p.free[setting[1]] or false, may_be = table.concat(may_be(p, setting) or {}, ", ") }
  end
  if answers_too then
    local _, _, new, old = judge_change(p, with(p, p.said.solution))
    told.answer = shown(p, (truth_of(p)))
    told.solution = code_line(p, with(p, p.said.solution), 0):match("guess=0 (.*)$")
    told.notice = words(p, p.said.notice, new, old, with(p, p.said.solution))
    told.formula = text_of(p, "formula")
    told.measured = measured_of(p)
  end
  return told
end

local function no_such(word)
  return { problem = ("the course has no problem \"%s\""):format(word), hint = "lockstep lesson list has them, by number and name" }
end

function course.start(word, seed)
  local row = find(word)
  return row and asked(problem(row, math.tointeger(seed))) or no_such(word)
end

function course.sheet(track, seed, answers_too)
  return of_track(track, function(row) return asked(problem(row, math.tointeger(seed)), answers_too) end)
end

-- Of a problem by number or name, or of a student's file by its text: with the numbers of its seed.
function course.hint(word, number, seed)
  number = math.tointeger(number)
  local row, kinds = find(word), { "Concept", "Principle", "Answer" }
  if not row then row, seed = whose(word) end
  if not row then return word:find("\n") and no_file() or no_such(word) end
  local p = problem(row, math.tointeger(seed))
  return { id = p.id, title = text_of(p, "title"), number = number, kind = kinds[number], hint = fill(p.said.hints[number], p.numbers) }
end

function course.guess(text, value, file)
  local read, wrong = read_file(text, file)
  if not read then return wrong end
  local p = read.problem
  if read.guess ~= nil and read.guess ~= read_guess(p, value) then
    return { problem = ("a guess stands in the file already: %s"):format(literal(read.guess)), hint = "lockstep lesson check FILE goes on" }
  end
  local guess, why = read_guess(p, value)
  why = why or share_or_percent(p, value) or slip_of(p, guess)
  if why then return { problem = why, hint = text_of(p, "ask") } end
  local right, truth, explained = judge_guess(p, guess)
  return { id = p.id, seed = p.seed, title = text_of(p, "title"), name = p.name, right = right, guess = shown(p, guess), truth = shown(p, truth),
           why = explained or (not right and fill(p.said.hints[1], p.numbers)) or nil, task = text_of(p, "task"),
           text = (read.text:gsub("(\n%s*guess%s*=%s*)nil", "%1" .. literal(guess):gsub("%%", "%%%%"), 1)) }
end

-- Figures of both, beside each other: { title, unit, old, new }. Those by which the change was judged are always there.
local function figures(new, old, looked_at)
  local list = {}
  local function row(title, unit, before, after)
    if type(before) == "number" or type(after) == "number" then list[#list + 1] = { title = title, unit = unit, old = before, new = after } end
  end
  if #new > 0 or #old > 0 then
    for i = 1, math.max(#new, #old) do
      row(("step, run %d"):format(i), "time", (old[i] or {}).step_time, (new[i] or {}).step_time)
    end
    return list
  end
  row("step time", "time", old.step_time, new.step_time)
  local titles, rows = {}, {}                      -- what changed most stands first, and on the first screen
  for _, answer in ipairs { old, new } do
    for name, title in pairs(answer.exposed_titles or {}) do titles[name] = title:lower() end
  end
  local function of(answer, name) return answer.exposed and (answer.exposed[name] or 0) end
  for name in pairs(titles) do
    local a, b = of(old, name), of(new, name)
    if looked_at[name] or (a or 0) > 0.01 * (old.step_time or 0) or (b or 0) > 0.01 * (new.step_time or 0) then rows[#rows + 1] = { name = name, old = a, new = b } end
  end
  local function moved(row) return math.abs((row.new or 0) - (row.old or 0)) end
  table.sort(rows, function(one, other)
    if moved(one) ~= moved(other) then return moved(one) > moved(other) end
    return one.name < other.name
  end)
  if #rows > 0 and moved(rows[1]) == 0 then rows = {} end -- a step as it was: what changed is its days
  for i, cause in ipairs(rows) do
    row("  " .. titles[cause.name], "time", cause.old, cause.new)
    list[#list].more = i > 3 and not looked_at[cause.name]
  end
  for _, figure in ipairs {                        -- name, title, unit; with -v alone, or where it is judged alone
    { "goodput", "goodput", "share" }, { "memory", "memory", "bytes" }, { "mfu", "mfu", "share" },
    { "efficiency", "efficiency", "share", "verbose" }, { "days", "duration", "days" }, { "cost_per_run", "cost per run", "money" },
    { "energy", "energy", "kwh", "verbose" }, { "tokens_per_s", "tokens a second", "count", "judged" },
    { "samples_per_s", "samples a second", "count", "judged" },
  } do
    local name, title, unit, only = table.unpack(figure)
    local a, b, judged = old[name], new[name], looked_at[name]
    local moves = a and b and math.abs(a - b) > 0.005 * math.abs(a)
    if a and a == a and b and b == b and (judged or (moves and only ~= "judged")) then
      row(title, unit, a, b)
      list[#list].more = only == "verbose" and not judged
    end
  end
  return list
end

function course.check(text, file)
  local read, wrong = read_file(text, file)
  if not read then return wrong end
  local p = read.problem
  if read.guess == nil then
    return { problem = "guess first: " .. text_of(p, "ask"), hint = ("lockstep lesson guess %s.lua VALUE, %s"):format(p.name, guess_help(p)) }
  end
  local looked_at = {}
  local guess_right, truth, guess_why = judge_guess(p, read.guess, looked_at)
  local right, why, new, old = judge_change(p, read.set, looked_at)
  local told = { id = p.id, seed = p.seed, name = p.name, title = text_of(p, "title"), right = right, why = why, guess = shown(p, read.guess),
                 truth = shown(p, truth), guess_right = guess_right, guess_why = right and guess_why or nil, figures = figures(new, old, looked_at) }
  if right then
    told.notice = words(p, p.said.notice, new, old, read.set)
    told.formula = text_of(p, "formula")
    told.measured = measured_of(p)
    told.code = code_line(p, read.set, read.guess)
    told.next = next_of(p)
  end
  return told
end

-- One line of a progress code, done again.
function course.grade(line)
  local id, seed, guess_text, rest = line:match("^([%d.]+) seed=(%d+) guess=(%S+) ?(.*)$")
  if id and guess_text:sub(1, 1) == '"' then id, seed, guess_text, rest = line:match('^([%d.]+) seed=(%d+) guess="([^"]*)" ?(.*)$') end
  local row = id and math.tointeger(tonumber(seed)) and find(id)
  if not row then return { right = false, note = "cannot be read" } end
  local p = problem(row, math.tointeger(tonumber(seed)))
  local set = with(p, {})
  for name, value in rest:gmatch('([%a_][%w_]*)=("[^"]*")') do set[name] = plain_value(value) end
  for name, value in (" " .. rest:gsub('"[^"]*"', '""')):gmatch(' ([%a_][%w_]*)=([^%s"]+)') do set[name] = plain_value(value) end
  for name, value in pairs(set) do
    if type(value) ~= type(p.usual[name]) then
      return { id = id, title = text_of(p, "title"), seed = p.seed, right = false, note = ("it has no setting %s like this"):format(name) }
    end
    local why = no_choice(p, name, value)
    if why then return { id = id, title = text_of(p, "title"), seed = p.seed, right = false, note = why } end
  end
  local guess = read_guess(p, guess_text)
  if guess == nil then return { id = id, title = text_of(p, "title"), seed = p.seed, right = false, note = "its guess cannot be read" } end
  local guess_right, truth = judge_guess(p, guess)
  local right, why = judge_change(p, set)
  return { id = id, title = text_of(p, "title"), seed = p.seed, right = right, guess_right = guess_right, guess = shown(p, guess),
           truth = shown(p, truth), note = not right and why or nil }
end

-- ---- For tests: everything a problem claims of itself, in sentences that say what is not so.

local function prove(p)
  local wrongs, word = {}, p.id
  local function claim(holds, text, ...) if not holds then wrongs[#wrongs + 1] = ("%s, seed %d: "):format(word, p.seed) .. text:format(...) end end
  local truth, old = truth_of(p)
  claim(truth ~= nil and truth == truth, "the guess has no answer")
  claim(close(p, truth, truth), "the right guess is wrong")
  local right, why, new = judge_change(p, with(p, p.said.solution))
  claim(right, "the solution is refused: %s", tostring(why))
  local choices = 1
  for _, list in pairs(p.said.numbers) do choices = choices * #list end
  claim(choices >= 3 or p.track == 8, "seeds give %d forms of it", choices) -- a published run is as it was
  claim(#p.said.hints == 3, "there are %d hints", #p.said.hints)
  for i = 1, 3 do fill(p.said.hints[i], p.numbers) end
  local function offered(change)
    for _, setting in ipairs(p.said.settings) do
      local list, value = may_be(p, setting), change[setting[1]]
      if list and value then
        claim((" " .. table.concat(list, " ") .. " "):find(" " .. value .. " ", 1, true), "%s is not among what %s may be", value, setting[1])
      end
    end
  end
  for name in pairs(p.free) do offered { [name] = p.usual[name] } end
  offered(p.said.solution)
  for i, also in ipairs(p.said.right or {}) do
    if also.guess then claim(close(p, guess_of(p, also, old), truth), "right guess %s is wrong: it is %s", tostring(guess_of(p, also, old)), tostring(truth)) end
    if also.change then
      local solved, why_not = judge_change(p, with(p, also.change))
      offered(also.change)
      claim(solved, "right change %d is refused: %s", i, tostring(why_not))
    end
  end
  local guesses, changes = 0, 0
  for i, wrong in ipairs(p.said.wrong) do
    claim(words(p, wrong.why, new, old), "wrong %d has no reason", i)
    if wrong.guess ~= nil then
      guesses = guesses + 1
      local value = guess_of(p, wrong, old)
      claim(value ~= nil and not close(p, value, truth), "wrong guess %s is right: it is %s", tostring(value), tostring(truth))
    end
    if wrong.change then
      changes = changes + 1
      offered(wrong.change)
      local solved = judge_change(p, with(p, wrong.change))
      claim(not solved, "wrong change %d solves it", i)
    end
  end
  claim(guesses > 0 and changes > 0, "it names %d wrong guesses and %d wrong changes", guesses, changes)
  local notice = words(p, p.said.notice, new, old, with(p, p.said.solution)) or ""
  claim(#notice > 40, "there is nothing to notice")
  claim(not notice:find("%d%d%d%d%d"), "a figure to notice has its thousands together: %s", notice)
  claim(p.said.formula and p.said.measured, "formula or measurement is missing")
  measured_of(p)
  local text = file_of(p, with(p, p.said.solution), truth)
  local told = course.check(text)
  claim(told.right and told.guess_right, "its file is refused: %s", tostring(told.problem or told.why))
  if told.code then
    local graded = course.grade(told.code)
    claim(graded.right and graded.guess_right, "its code is refused: %s", tostring(graded.note))
  end
  claim(course.check(file_of(p, {}, truth)).right == false, "unchanged it is right")
  claim(course.check(file_of(p, {}, nil)).problem, "without a guess it is checked")
  for _, setting in ipairs(p.said.settings) do
    if p.free[setting[1]] and (setting.of or setting[1] == "recompute") then
      local other = type(p.usual[setting[1]]) == "string" and "other" or -7
      claim(course.check(file_of(p, { [setting[1]] = other }, truth)).problem, "%s may be %s", setting[1], other)
    end
  end
  if type(truth) == "number" then
    for _, slip in ipairs { -truth, 1e9 * truth } do claim(course.check(file_of(p, {}, slip)).problem, "%s is taken for a guess", slip) end
  end
  return wrongs
end

-- Of each form that the first `seeds` students see: mistakes, and under "forms" how many there are.
function course.prove(word, seeds)
  local all, seen = { forms = 0 }, {}
  for seed = 1, math.tointeger(seeds) do
    local p, key = problem(find(word), seed), ""
    for name, value in pairs(p.numbers) do key = key .. name .. "=" .. tostring(value) .. " " end
    if not seen[key] then
      seen[key] = true
      all.forms = all.forms + 1
      for _, wrong in ipairs(prove(p)) do all[#all + 1] = wrong end
    end
  end
  return all
end

return course
