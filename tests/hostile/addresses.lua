-- Every way of writing a value that has an address.
local things={{},function() end,print,coroutine.create(function() end),require"lockstep",require"lockstep".hw"A100",setmetatable({},{__name="x"}),string}
local function check(text) if tostring(text):find"0x" or tostring(text):find"%x%x%x%x%x%x%x" then error("an address: "..text,0) end end
local forms={"%p","\0%p","%%\0%-20p","%s\0%p","\0\0%5p","%d\0%.3p"}
for _,form in ipairs(forms) do
  for i=1,#things do
    local ok,text=pcall(string.format,form,things[i],things[i]) if ok then check(text) end
    ok,text=pcall(string.format,form,1,things[i]) check(text)
    assert(not ok)
  end
end
for _,thing in pairs(things) do
  check(tostring(thing))
  for _,form in ipairs{"%s","%q","%d","%-30s","%10.20s","%x","%a","%c"} do local _,text=pcall(string.format,form,thing) check(text) end
  for _,try in ipairs{
    function() return thing+1 end, function() return thing..thing end, function() return thing<thing end, function() return #thing end,
    function() return thing() end, function() return -thing end, function() return table.concat{thing} end, function() return ("x"):rep(thing) end,
    function() for _=thing,1 do end end, function() return thing.x.y.z end, function() thing[nil]=1 end, function() return math.floor(thing) end,
    function() return setmetatable(thing,thing) end, function() return tonumber(thing) end, function() return load(thing) end,
    function() return select(thing) end, function() return error(thing) end, function() return coroutine.resume(thing) end,
    function() return coroutine.wrap(function() error(thing) end)() end, function() return utf8.char(thing) end, function() return assert(false,thing) end,
    function() return require"lockstep".cluster(thing) end, function() return require"lockstep".cluster{node=thing} end,
    function() return require"lockstep".group{thing} end, function() return string.gsub("x","x",function() return thing end) end,
  } do local _,text=pcall(try) check(text) end
end
error("none shows",0)
