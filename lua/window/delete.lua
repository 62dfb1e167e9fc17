#!lua flags=allow-oom
-- Deletes one chunk of a series, if it is still the one seen.
-- A script: what others began meanwhile under the same name must not be deleted.
-- KEYS  the chunk
-- ARGV  1 birth seen
-- Reply u8: 0 deleted, 1 no such chunk, 2 another birth
-- Law   repeating a call deletes nothing else.
-- Cost  O(chunk)
-- @include window/law
-- @include window/chunk
local keys_per_step = 1
local arguments_per_step = 1

local function step(k, a, now)
  local seen_birth = tonumber(ARGV[a])
  local header = redis.call("GETRANGE", KEYS[k], 0, header_bytes - 1)
  if header == "" then return "\1" end
  local _, _, _, _, _, _, birth = struct.unpack(header_layout, header)
  if seen_birth ~= birth then return "\2" end
  redis.call("DEL", KEYS[k])
  return "\0"
end
