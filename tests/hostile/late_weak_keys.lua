-- Keys that the collector frees while pairs sorts them: memory is short, and the table becomes weak after it was made.
local ballast = {}
for i = 1, 13 do ballast[i] = string.rep("b", (1 << 20) - 64) .. i end
for round = 1, 40 do
  ballast[#ballast + 1] = string.rep("c", 1 << 15) .. round
  pcall(function()
    local m = {}
    local t = setmetatable({}, m)
    do
      local v = {}
      for i = 1, 2000 do t[("k%d_%d_"):format(round, i) .. ("z"):rep(500)] = v end
    end
    m.__mode = "v"
    local bad = 0
    for k in pairs(t) do if not k:find "^k%d+_%d+_z+$" then bad = bad + 1 end end
    if bad > 0 then print("BAD", bad) end
  end)
end
