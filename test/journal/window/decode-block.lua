#!lua name=test
-- Decodes one block for tests: its times and values as f64, one after the other.
-- ARGV  1 head, body, order and times · 2 the earliest time, f64
-- @include journal/decode-block
local function decoded(args)
  local times, values = decode_block(args[1], struct.unpack("<d", args[2]))
  local bytes = {}
  for i = 1, #times do bytes[i] = struct.pack("<d", times[i]) end
  for i = 1, #values do bytes[#times + i] = struct.pack("<d", values[i]) end
  return table.concat(bytes)
end
return decoded(ARGV)
