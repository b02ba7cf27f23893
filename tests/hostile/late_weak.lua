-- The metatable gets its __mode after setmetatable has looked at it, and loses it again.
local m = {}
local t = setmetatable({}, m)
m.__mode = "v"
for round = 1, 1000 do
  for i = 1, 100 do t[i] = { round } end
  local left = 0
  for i = 1, 100 do if t[i] then left = left + 1 end end
  if left < 100 then m.__mode = nil; print("the collector was seen", round) break end
end
m.__mode = nil
error "not stopped"
