#!lua flags=allow-oom
-- Returns parts of one sealed chunk, if it still is the one whose outline the caller has.
-- One atomic step: all parts are of one sealed form. It writes nothing but has no flag `no-writes` (see read).
-- KEYS  the closed chunk
-- ARGV  1 PARTS, then a PART for each part
-- Reply u8 0 and the parts, one after the other; or u8 1: another chunk or another form
-- Cost  O(parts and bytes answered); with many parts O(bytes of the chunk)
-- @include layouts/journal
local keys_per_step = 1
local arguments_per_step = 1
local FEW_PARTS, PARTS_AT_ONCE = 16, 32

local function step(k, a, now)
  local key, parts = KEYS[k], ARGV[a]
  local seen_birth, seen_checksum = struct.unpack(PARTS, parts)
  local head = redis.call("GETRANGE", key, 0, CHUNK_BYTES + SEALED_BYTES - 1)
  if #head < CHUNK_BYTES + SEALED_BYTES or string.byte(head) ~= SEALED_FORMAT then return "\1" end
  local birth = struct.unpack(CHUNK, head)
  local checksum = struct.unpack(SEALED, head, CHUNK_BYTES + 1)
  if birth ~= seen_birth or checksum ~= seen_checksum then return "\1" end
  local found = { "\0" }
  -- A command costs more than a kilobyte of a string that is here.
  local chunk = #parts > PARTS_BYTES + FEW_PARTS * PART_BYTES and redis.call("GET", key)
  for at = PARTS_BYTES + 1, #parts, PARTS_AT_ONCE * PART_BYTES do
    -- One call for many parts, because a call costs more than the numbers that it reads.
    local count = math.min(PARTS_AT_ONCE, (#parts - at + 1) / PART_BYTES)
    local numbers = { struct.unpack("<" .. string.rep("I4I4", count), parts, at) }
    for i = 1, 2 * count, 2 do
      local from, length = numbers[i], numbers[i + 1]
      -- GETRANGE takes an end before byte 0 as the end of the string.
      found[#found + 1] = length == 0 and "" or chunk and string.sub(chunk, from + 1, from + length)
        or redis.call("GETRANGE", key, from, from + length - 1)
    end
  end
  return table.concat(found)
end
