-- The values of a list. Lua 5.1 names this function unpack, and Lua 5.4 table.unpack.
local function spread(list)
  return (table.unpack or unpack)(list)
end
