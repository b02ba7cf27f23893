-- Numbers, texts and formats at their edges, and addresses.
--! the smallest integer through minus one => 0 ""
assert(math.mininteger // -1 == math.mininteger and math.mininteger % -1 == 0)
return fine()
--! an integer through zero => 4 "attempt to divide by zero"
return 1 // 0
--! an integer modulo zero => 4 "attempt to perform 'n%0'"
return 1 % 0
--! a shift by more than there is => 0 ""
assert(1 << 64 == 0 and 1 << math.mininteger == 0 and 1 >> math.maxinteger == 0)
return fine()
--! a number that is no integer => 4 "no integer representation"
return 1.5 | 0
--! a text that is no number => 4 "attempt to add a 'string'"
return "0x" + 1
--! a base that is none => 4 "base out of range"
return tonumber("z", 99)
--! a step of zero => 4 "'for' step is zero"
for i = 1, 2, 0 do end
--! an interval of chance that is empty => 4 "interval is empty"
return math.random(2, 1)
--! all of chance => 0 ""
assert(math.type(math.random(math.mininteger, math.maxinteger)) == "integer")
return fine()
--! an address in a format => 4 "differ from run to run"
error(("%p"):format({}))
--! an address in a format with a width => 4 "differ from run to run"
error(("%-20p"):format({}))
--! an address behind a NUL => 4 "differ from run to run"
error(("\0%p"):format("x"):sub(4))
--! an address behind a percent sign => 4 "differ from run to run"
error(("%%%p"):format({}))
--! an address of a text => 4 "differ from run to run"
error(("%s %p"):format("x", "y"))
--! the address of a table => 4 "the text is table"
error("the text is " .. tostring({}))
--! the address of a function => 4 "the text is function"
error("the text is " .. tostring(print))
--! the address of a coroutine => 4 "the text is thread"
error("the text is " .. tostring(coroutine.create(print)))
--! the address in a format of texts => 4 "the text is table"
error(("the text is %s"):format({}))
--! the address of a handle => 4 "the text is"
error("the text is " .. tostring(cluster {}))
--! addresses through __name => 4 "the text is"
error("the text is " .. tostring(setmetatable({}, { __name = "thing" })))
--! addresses as an order => 4 "no fixed order"
for _ in pairs { [{}] = 1, [{}] = 2 } do end
--! addresses as an order of functions => 4 "no fixed order"
next { [print] = 1, [error] = 2 }
--! addresses compared => 4 "attempt to compare"
return {} < {}
--! addresses in concat => 4 "invalid value (table)"
return table.concat { {} }
--! addresses as an error => 4 "raised a table that nobody caught"
error({})
--! addresses as a quoted text => 4 "error"
error(("%q"):format({}))
--! a format that is none => 4 "invalid conversion"
return ("%y"):format(1)
--! a format that ends => 4 "invalid conversion"
return ("%"):format(1)
--! a format without values => 4 "no value"
return ("%d %d"):format(1)
--! a character beyond all => 4 "value out of range"
return utf8.char(1 << 40)
--! a character that is none => 4 "invalid UTF-8"
return utf8.codepoint("\xff")
--! a place between characters => 4 "continuation byte"
return utf8.offset("\u{20ac}", 1, 2)
--! a place outside => 4 "out of bounds"
return utf8.codepoint("x", 1, 100)
--! characters that are none, one by one => 4 "invalid UTF-8"
for _ in utf8.codes("x\xffy") do end
--! a byte outside of a text => 4 "out of range"
return string.char(256)
--! a text from its far ends => 0 ""
assert(("x"):sub(math.mininteger, math.maxinteger) == "x" and ("x"):byte(math.mininteger) == nil)
return fine()
--! unpacking beyond the end => 4 "data string too short"
return string.unpack("s8", "\255\255\255\255\255\255\255\127x")
--! unpacking from outside => 4 "out of string"
return string.unpack("i4", "1234", math.maxinteger)
--! a pattern that is cut => 4 "malformed pattern"
return ("x"):find("[a")
--! a balance that is cut => 4 "missing arguments to '%b'"
return ("x"):find("%b")
--! a replacement of what is not there => 4 "invalid capture index"
return ("x"):gsub("x", "%9")
--! deep balances => 4 "of processor time"
assert(not (("("):rep(250000)):find("%b()"))
