#!lua flags=allow-oom
-- Extends a hold of a semaphore's permits, if the token still has it.
-- One atomic step: between a check and a write the hold could end.
-- KEYS  1 the permits in use (lua/semaphore/acquire.lua)
-- ARGV  1 token · 2 lease, ms · 3 the numbers of its permits
-- Reply u8: 1 held at least until now + lease, 0 not held by the token
-- Law   never shortens a hold. A repeated call changes nothing else.
-- Cost  O(permits * log permits in use)
local keys_per_step = 1
local arguments_per_step = 3

local function step(k, a, now)
  local key, token, ends, numbers = KEYS[k], ARGV[a], now + tonumber(ARGV[a + 1]), ARGV[a + 2]
  local call, count = redis.call, 1
  if tonumber(call("ZSCORE", key, token .. "_" .. string.match(numbers, "^%d+")) or -1) < now then return "\0" end
-- @include semaphore/hold
  return "\1"
end
