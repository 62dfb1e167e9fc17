#!lua flags=allow-oom
-- Extends a hold if the token still holds the lock.
-- One atomic step: between a GET and a PEXPIRE another process could acquire the lock.
-- KEYS  the lock
-- ARGV  1 token · 2 lease, ms
-- Reply u8: 1 held at least until now + lease, 0 not held by the token
-- Law   never shortens a hold; restores a missing expiry. A repeated call changes nothing else.
-- Cost  O(1)
local keys_per_step = 1
local arguments_per_step = 2

local function step(k, a, now)
  local lock, token, lease = KEYS[k], ARGV[a], tonumber(ARGV[a + 1])
-- @include lock/holder
  if holder ~= token then return "\0" end
  if expiry < now + lease then redis.call("PEXPIREAT", lock, "" .. now + lease) end
  return "\1"
end
