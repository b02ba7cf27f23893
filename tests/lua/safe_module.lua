-- A module beside a script: what it returns is what require gives.
local parts = {}
function parts.double(x) return 2 * x end
return parts
