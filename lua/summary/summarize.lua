#!lua
-- Puts a summary beside the journal that it was made of.
-- A script: a summary of a journal that was deleted, or undone by a failover, must not come back.
-- KEYS  1 the open chunk · 2 the summary (one slot)
-- ARGV  1 the summary (src/journal/format/summary.ts tells its bytes)
-- Reply u8: 0 written; 1 the journal does not go on from it any more, and nothing was written
-- Law   written where the open chunk is the one it ends in, or the one after that; expires with that chunk. The last one
--       written stands: readers check what they find.
-- Cost  O(bytes of the summary)
-- @include journal/law
-- @include journal/chunk
local keys_per_step = 2
local arguments_per_step = 1

local function step(k, a, now)
  local open, summary = KEYS[k], ARGV[a]
  local header = redis.call("GETRANGE", open, 0, HEADER_BYTES - 1)
  if #header < HEADER_BYTES or string.byte(header) ~= FORMAT then return "\1" end
  local _, _, _, chunk_ms, number, _, birth, birth_before, last, retention = struct.unpack(HEADER_LAYOUT, header)
  local _, _, _, _, of_number, _, of_birth = struct.unpack(HEADER_LAYOUT, summary)
  local length, place = struct.unpack("<I4I4", summary, HEADER_BYTES + 1)
  if number == of_number + 1 then
    if birth_before ~= of_birth then return "\1" end
  elseif number ~= of_number or birth ~= of_birth or redis.call("STRLEN", open) < length then
    return "\1"
  elseif place > 0 and redis.call("GETRANGE", open, place, place + 15) ~= string.sub(summary, 73, 88) then
    return "\1"
  end
  redis.call("SET", KEYS[k + 1], summary, "PXAT", whole(expiry_of(last, retention, chunk_ms)))
  return "\0"
end
