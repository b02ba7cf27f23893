-- An algorithm that tries what attack.lua tries, and is one.
local names, through = system.attempts(), {}
for _, name in ipairs(names) do
    if not system.refuses(name) then through[#through + 1] = name end
end
assert(not io.open("/etc/passwd") and not os.execute("true"))
print(("%d attempts, %d went through: %s"):format(#names + 13, #through, table.concat(through, " ")))
return function(rank, ranks, bytes)
    return { { send = { to = 1 - rank, bytes = bytes // 2 }, recv = { from = 1 - rank, bytes = bytes // 2 } } }
end
