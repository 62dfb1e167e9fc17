#!lua name=test
-- The checksum of ARGV[1], for tests, as u32.
-- @include journal/checksum
local function packed(text)
  return struct.pack("<I4", checksum_of(text))
end
return packed(ARGV[1])
