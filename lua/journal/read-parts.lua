#!lua flags=allow-oom
-- Returns parts of one sealed chunk, if it still is the one whose outline the caller has.
-- One atomic step: all parts are of one sealed form. It writes nothing but has no flag `no-writes` (see read).
-- KEYS  the closed chunk
-- ARGV  1 PARTS, then a PART for each part
-- Reply u8 0 and the parts, one after the other; or u8 1: another chunk or another form
-- Cost  O(parts and bytes answered), and up to NEAR_BYTES read between two parts
-- @include layouts/journal
local keys_per_step = 1
local arguments_per_step = 1
local NEAR_BYTES, PARTS_AT_ONCE = 512, 32

local function step(k, a, now)
  local key, parts = KEYS[k], ARGV[a]
  local seen_birth, seen_checksum = struct.unpack(PARTS, parts)
  local head = redis.call("GETRANGE", key, 0, CHUNK_BYTES + SEALED_BYTES - 1)
  if #head < CHUNK_BYTES + SEALED_BYTES or string.byte(head) ~= SEALED_FORMAT then return "\1" end
  local birth = struct.unpack(CHUNK, head)
  local checksum = struct.unpack(SEALED, head, CHUNK_BYTES + 1)
  if birth ~= seen_birth or checksum ~= seen_checksum then return "\1" end
  local found, n = { "\0" }, 1
  for at = PARTS_BYTES + 1, #parts, PARTS_AT_ONCE * PART_BYTES do
    -- One call for many parts, because a call costs more than the numbers that it reads.
    local count = math.min(PARTS_AT_ONCE, (#parts - at + 1) / PART_BYTES)
    local numbers = { struct.unpack("<" .. string.rep("I4I4", count), parts, at) }
    local i = 1
    while i <= 2 * count do
      -- One command for parts that are near each other, because a command costs more than the bytes between them.
      local from, last = numbers[i], i
      local to = from + numbers[i + 1]
      while last + 2 <= 2 * count and numbers[last + 2] >= to and numbers[last + 2] < to + NEAR_BYTES do
        last = last + 2
        to = numbers[last] + numbers[last + 1]
      end
      -- GETRANGE takes an end before byte 0 as the end of the string.
      local bytes = to == from and "" or redis.call("GETRANGE", key, from, to - 1)
      for j = i, last, 2 do
        n = n + 1
        found[n] = i == last and bytes or string.sub(bytes, numbers[j] - from + 1, numbers[j] - from + numbers[j + 1])
      end
      i = last + 2
    end
  end
  return table.concat(found)
end
