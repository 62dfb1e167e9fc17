-- The libraries that a server provides to scripts beside Lua's own, in Lua 5.4: `struct`, `bit` (as far as steps use it) and
-- `cmsgpack`. `struct` gives floats (10.0), as Dragonfly's does. With INTEGERS it gives integers.
local integers = INTEGERS

local function is_whole(number)
  return number == math.floor(number) and number >= -2 ^ 63 and number < 2 ^ 63
end

-- struct ------------------------------------------------------------------------------------------------------------
local sizes = { b = 1, B = 1, h = 2, H = 2, l = 8, L = 8, T = 8, i = 4, I = 4 }

local function unsigned_bits(number)
  if number < 0 then return math.ceil(number) // 1 | 0 end
  if number >= 2 ^ 63 then return math.tointeger(math.floor(number) - 2 ^ 63) | math.mininteger end
  return math.tointeger(math.floor(number))
end

local function number_of(bits, signed)
  if integers then return bits end
  return (signed or bits >= 0) and bits + 0.0 or bits + 2.0 ^ 64
end

struct = {
  pack = function(format, ...)
    local order, given, place, parts = "=", { ... }, 0, {}
    local function as_bytes(option, count, value)
      if option == "d" or option == "f" then return string.pack(order .. option, value) end
      if option == "s" then return value .. "\0" end
      if option == "c" then return count == "0" and value or string.sub(value, 1, tonumber(count)) end
      local size = tonumber(count) or sizes[option]
      local bits = unsigned_bits(tonumber(value) or error("number expected, got " .. type(value)))
      if size < 8 then bits = bits & ((1 << (8 * size)) - 1) end
      return string.pack(order .. (size == 8 and "i8" or "I" .. size), bits)
    end
    for option, count in string.gmatch(format, "([%a<>=!])(%d*)") do
      if option == "<" or option == ">" or option == "=" then
        order = option
      elseif option == "x" then
        parts[#parts + 1] = "\0"
      else
        place = place + 1
        parts[#parts + 1] = as_bytes(option, count, given[place])
      end
    end
    return table.concat(parts)
  end,
  unpack = function(format, bytes, at)
    local order, found, count = "=", {}, 0
    at = at and (math.tointeger(at) or error("number has no integer representation")) or 1
    for option, digits in string.gmatch(format, "([%a<>=!])(%d*)") do
      if option == "<" or option == ">" or option == "=" then
        order = option
      elseif option == "x" then
        at = at + 1
      elseif option == "s" then
        count = count + 1
        found[count], at = string.unpack("z", bytes, at)
      elseif option == "c" then
        local size = tonumber(digits)
        if size == 0 then
          size = math.tointeger(found[count])
          count = count - 1
        end
        if at + size - 1 > #bytes then error("data string too short") end
        count = count + 1
        found[count], at = string.sub(bytes, at, at + size - 1), at + size
      else
        local is_float = option == "d" or option == "f"
        local size = is_float and (option == "d" and 8 or 4) or tonumber(digits) or sizes[option]
        if at + size - 1 > #bytes then error("data string too short") end
        local signed = option == string.lower(option)
        local value = string.unpack(order .. (is_float and option or (signed and "i" or "I") .. size), bytes, at)
        count, at = count + 1, at + size
        found[count] = is_float and value or number_of(value, signed)
      end
    end
    found[count + 1] = at
    return table.unpack(found, 1, count + 1)
  end,
}

-- bit: 32 bits, signed, from the number's lowest ones -----------------------------------------------------------------
local function folded(fold, first, ...)
  local bits = math.tointeger(first) or error("number has no integer representation")
  for _, each in ipairs({ ... }) do bits = fold(bits, math.tointeger(each)) end
  bits = bits & 0xffffffff
  return bits >= 0x80000000 and bits - 0x100000000 or bits
end

bit = {
  band = function(...) return folded(function(a, b) return a & b end, ...) end,
  bxor = function(...) return folded(function(a, b) return a ~ b end, ...) end,
}

-- cmsgpack ------------------------------------------------------------------------------------------------------------
local function packed(value)
  local kind = math.type(value) or type(value)
  if kind == "float" and is_whole(value) then kind, value = "integer", math.tointeger(value) end
  if kind == "nil" then return "\xc0" end
  if kind == "boolean" then return value and "\xc3" or "\xc2" end
  if kind == "float" then
    return string.unpack(">f", string.pack(">f", value)) == value and string.pack(">Bf", 0xca, value)
      or string.pack(">Bd", 0xcb, value)
  end
  if kind == "integer" then
    if value >= 0 then
      if value < 0x80 then return string.char(value) end
      if value < 0x100 then return string.pack(">BI1", 0xcc, value) end
      if value < 0x10000 then return string.pack(">BI2", 0xcd, value) end
      if value < 0x100000000 then return string.pack(">BI4", 0xce, value) end
      return string.pack(">Bi8", 0xcf, value)
    end
    if value >= -32 then return string.pack(">i1", value) end
    if value >= -0x80 then return string.pack(">Bi1", 0xd0, value) end
    if value >= -0x8000 then return string.pack(">Bi2", 0xd1, value) end
    if value >= -0x80000000 then return string.pack(">Bi4", 0xd2, value) end
    return string.pack(">Bi8", 0xd3, value)
  end
  if kind == "string" then
    if #value < 32 then return string.char(0xa0 | #value) .. value end
    if #value < 0x100 then return string.pack(">Bs1", 0xd9, value) end
    if #value < 0x10000 then return string.pack(">Bs2", 0xda, value) end
    return string.pack(">Bs4", 0xdb, value)
  end
  local count, is_list = 0, true
  for key in pairs(value) do
    count = count + 1
    is_list = is_list and math.type(key) == "integer" and key > 0
  end
  is_list = is_list and count == #value
  local parts = {}
  if is_list then
    for i = 1, count do parts[i] = packed(value[i]) end
  else
    for key, each in pairs(value) do parts[#parts + 1] = packed(key) .. packed(each) end
  end
  local head = is_list and (count < 16 and string.char(0x90 | count) or string.pack(">BI2", 0xdc, count))
    or (count < 16 and string.char(0x80 | count) or string.pack(">BI2", 0xde, count))
  return head .. table.concat(parts)
end

local formats = {
  [0xca] = ">f", [0xcb] = ">d", [0xcc] = ">I1", [0xcd] = ">I2", [0xce] = ">I4", [0xcf] = ">i8",
  [0xd0] = ">i1", [0xd1] = ">i2", [0xd2] = ">i4", [0xd3] = ">i8",
  [0xd9] = ">s1", [0xda] = ">s2", [0xdb] = ">s4", [0xc4] = ">s1", [0xc5] = ">s2", [0xc6] = ">s4",
}
local lists = { [0xdc] = ">I2", [0xdd] = ">I4" }
local maps = { [0xde] = ">I2", [0xdf] = ">I4" }

local function unpacked(bytes, at)
  local kind = string.byte(bytes, at)
  if not kind then error("Missing bytes in input.") end
  at = at + 1
  if kind < 0x80 then return kind, at end
  if kind >= 0xe0 then return kind - 0x100, at end
  if kind == 0xc0 then return nil, at end
  if kind == 0xc2 or kind == 0xc3 then return kind == 0xc3, at end
  if kind >= 0xa0 and kind < 0xc0 then return string.sub(bytes, at, at + kind - 0xa1), at + kind - 0xa0 end
  if formats[kind] then return string.unpack(formats[kind], bytes, at) end
  local count = kind & 0x0f
  if lists[kind] or maps[kind] then count, at = string.unpack(lists[kind] or maps[kind], bytes, at) end
  local found = {}
  if lists[kind] or kind >= 0x90 and kind < 0xa0 then
    for i = 1, count do found[i], at = unpacked(bytes, at) end
    return found, at
  end
  for _ = 1, count do
    local key
    key, at = unpacked(bytes, at)
    found[key], at = unpacked(bytes, at)
  end
  return found, at
end

cmsgpack = {
  pack = packed,
  unpack = function(bytes)
    local found, count, at = {}, 0, 1
    while at <= #bytes do
      count = count + 1
      found[count], at = unpacked(bytes, at)
    end
    return table.unpack(found, 1, count)
  end,
}
