#!lua flags=allow-oom
-- Deletes one chunk of a series if it is still the one seen.
-- One atomic step: a chunk that another process has begun since under the same name must not be deleted.
-- KEYS  the chunk
-- ARGV  1 birth seen · 2 void after, server ms
-- Reply u8: 0 deleted, 1 no such chunk, 2 another birth, 3 void, nothing was changed
-- Law   A repeated call deletes nothing else, except after a failover that undid the first. The chunk may then have grown
--       under the same birth, so a late call would delete newer events. Void after bounds this time.
-- Cost  O(chunk)
-- @include layouts/journal
-- @include journal/chunk
local keys_per_step = 1
local arguments_per_step = 2

local function step(k, a, now)
  local seen_birth, void_after = tonumber(ARGV[a]), tonumber(ARGV[a + 1])
  local header = redis.call("GETRANGE", KEYS[k], "0", CHUNK_LAST_BYTE_TEXT)
  if header == "" then return "\1" end
  local birth = struct.unpack(CHUNK, header)
  if seen_birth ~= birth then return "\2" end
  if now > void_after then return "\3" end
  redis.call("DEL", KEYS[k])
  return "\0"
end
