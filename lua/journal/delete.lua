#!lua flags=allow-oom
-- Deletes one chunk of a series if it is still the one seen. In the place of the open chunk it leaves an empty one with a guard.
-- One atomic step: a chunk that another process has begun since under the same name must not be deleted.
-- KEYS  the chunk
-- ARGV  1 birth seen · 2 void after, server ms · 3 1 for the open chunk, else 0
-- Reply u8: 0 deleted, 1 no such chunk, 2 another birth, 3 void, nothing was changed
-- Law   A repeated call deletes nothing else, except after a failover that undid the first. The chunk may then have grown
--       under the same birth, so a late call would delete newer events. Void after bounds this time.
--       The empty chunk begins after everything deleted, so that appends with a later void after are accepted at once. It
--       outlasts its guard by a minute, in case the clock is set back.
-- Cost  O(chunk)
-- @include layouts/journal
-- @include journal/chunk
local keys_per_step = 1
local arguments_per_step = 3

local function step(k, a, now)
  local seen_birth, void_after, is_open = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), ARGV[a + 2] == "1"
  local header = redis.call("GETRANGE", KEYS[k], "0", CHUNK_LAST_BYTE_TEXT)
  if header == "" then return "\1" end
  local value_type, clock_and_guard, chunk_ms, number, birth, last, retention = struct.unpack(CHUNK, header)
  if seen_birth ~= birth then return "\2" end
  if now > void_after then return "\3" end
  if not is_open then
    redis.call("DEL", KEYS[k])
    return "\0"
  end
  local deleted = math.max(now, last)
  local first, guard_end = deleted + 1, deleted + DEDUPE_MS
  local new_birth = (birth + first) % 4294967296
  if new_birth == 0 then new_birth = 1 end
  local guard = clock_and_guard_of(clock_of(clock_and_guard), first, guard_end)
  header = struct.pack(CHUNK, FORMAT, value_type, guard, chunk_ms, math.max(first, number + 1), first, new_birth, 0, first,
    retention, -math.huge, -math.huge)
  redis.call("SET", KEYS[k], header, "PXAT", whole(guard_end + EXPIRY_SLACK_MS))
  return "\0"
end
