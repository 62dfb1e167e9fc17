#!lua flags=allow-oom
-- Extends a reader's hold, if it still has it.
-- One atomic step: between a check and a write the hold could end.
-- KEYS  1 the lock of the writers · 2 the readers (lua/lock/acquire-shared.lua)
-- ARGV  1 token · 2 lease, ms
-- Reply u8: 1 held at least until now + lease, 0 not held by the token
-- Law   never shortens a hold. A repeated call changes nothing else.
-- Cost  O(log readers)
local keys_per_step = 2
local arguments_per_step = 2

local function step(k, a, now)
  local readers, token, ends = KEYS[k + 1], ARGV[a], now + tonumber(ARGV[a + 1])
  local before = tonumber(redis.call("ZSCORE", readers, token) or -1)
  if before < now then return "\0" end
  if before < ends then redis.call("ZADD", readers, string.format("%.0f", ends), token) end
  if redis.call("PEXPIRETIME", readers) < ends then redis.call("PEXPIREAT", readers, string.format("%.0f", ends)) end
  return "\1"
end
