-- The checksum of sealed chunks, u32: MurmurHash3 (x86, 32 bits). Twin: src/engine/journal/sealed/checksum.ts.
-- Products of 32 bits are too long for a double, so each constant is multiplied in halves. Only the exclusive or needs a call, because
-- calls cost more than numbers.
local function checksum_of(text)
  local hash, size = 0, #text
  -- The last word may be a part. It is filled with zeros, and mixed in without the steps that follow a whole one.
  text = text .. "\0\0\0"
  for at = 1, size, 256 do
    local count = math.min(64, math.ceil((size - at + 1) / 4))
    local words = { struct.unpack("<" .. string.rep("I4", count), text, at) }
    for i = 1, count do
      local word = words[i]
      word = (word * 11601 + word * 52382 % 65536 * 65536) % 4294967296
      local low = word % 131072
      word = low * 32768 + (word - low) / 131072
      hash = bit.bxor(hash, (word * 13715 + word * 7047 % 65536 * 65536) % 4294967296) % 4294967296
      if at + 4 * i - 1 <= size then
        low = hash % 524288
        hash = ((low * 8192 + (hash - low) / 524288) * 5 + 3864292196) % 4294967296
      end
    end
  end
  hash = bit.bxor(hash, size) % 4294967296
  hash = bit.bxor(hash, math.floor(hash / 65536))
  hash = (hash * 51819 + hash * 34283 % 65536 * 65536) % 4294967296
  hash = bit.bxor(hash, math.floor(hash / 8192)) % 4294967296
  hash = (hash * 44597 + hash * 49842 % 65536 * 65536) % 4294967296
  return bit.bxor(hash, math.floor(hash / 65536)) % 4294967296
end
