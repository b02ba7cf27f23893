local t = {} for i=1,300 do t[i] = {i % 3, i} end
table.sort(t, function(a,b) return a[1] < b[1] end)
for k in pairs(math) do io = nil end
