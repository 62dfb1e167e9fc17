-- Code that precedes a step sent as JSON text. JSON carries no bytes, so arguments of bytes are sent in 64 characters.
-- ARGV  the step's arguments · last: one letter for each of them, "t" for text as it is, "b" for bytes
-- KEYS and Reply are those of the step. Cost: 3 us for the call and about 40 ns a byte.
--
-- Six bytes are eight characters from "0" on: six with the low six bits of a byte each, then two with the high two bits
-- of three bytes each. So two additions turn one number of six characters into one of six bytes. The n bytes left over
-- at the end are n characters of low bits, then one or two of high bits. Twin: src/store/http/ascii.ts.
do
  local marks = ARGV[#ARGV]
  ARGV[#ARGV] = nil
  if not marks or #marks ~= #ARGV then
    return redis.error_reply("ERR the last argument does not tell what the others are")
  end
  -- Maps the character of three bytes' high bits to the number that it adds to the characters of their low bits.
  local high = setmetatable({}, {
    __index = function(known, character)
      local bits = character - 48
      local sum = bits * 262144 - bits % 16 * 258048 - bits % 4 * 4032 - 3158064
      known[character] = sum
      return sum
    end,
  })
  local function six_bytes(text, at)
    local low, first, second = struct.unpack(">I6BB", text, at)
    return struct.pack(">I6", low + high[first] * 16777216 + high[second])
  end
  local function bytes_of(text)
    local pieces, count, at = {}, 0, 1
    while at + 63 <= #text do
      local a, a1, a2, b, b1, b2, c, c1, c2, d, d1, d2, e, e1, e2, f, f1, f2, g, g1, g2, h, h1, h2 =
        struct.unpack(">I6BBI6BBI6BBI6BBI6BBI6BBI6BBI6BB", text, at)
      count, at = count + 1, at + 64
      pieces[count] = struct.pack(
        ">I6I6I6I6I6I6I6I6",
        a + high[a1] * 16777216 + high[a2],
        b + high[b1] * 16777216 + high[b2],
        c + high[c1] * 16777216 + high[c2],
        d + high[d1] * 16777216 + high[d2],
        e + high[e1] * 16777216 + high[e2],
        f + high[f1] * 16777216 + high[f2],
        g + high[g1] * 16777216 + high[g2],
        h + high[h1] * 16777216 + high[h2]
      )
    end
    while at + 7 <= #text do
      count = count + 1
      pieces[count] = six_bytes(text, at)
      at = at + 8
    end
    if at <= #text then
      local rest = math.floor((#text - at + 1) * 3 / 4)
      local low = string.sub(text, at, at + rest - 1) .. string.rep("0", 6 - rest)
      pieces[count + 1] = string.sub(six_bytes(low .. string.sub(text, at + rest) .. "0", 1), 1, rest)
    end
    return table.concat(pieces)
  end
  local place = string.find(marks, "b", 1, true)
  while place do
    ARGV[place] = bytes_of(ARGV[place])
    place = string.find(marks, "b", place + 1, true)
  end
end
