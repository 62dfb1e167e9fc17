#!lua flags=allow-oom
-- Makes a hold last longer, if the lock is still held by the token.
-- A script: between a look and a PEXPIRE the lock could become another's.
-- KEYS  the lock
-- ARGV  1 token · 2 lease, ms
-- Reply u8: 1 held until now + lease at least, 0 not held by the token
-- Law   never shortens; a missing expiry is restored. Repeating a call changes nothing else.
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
