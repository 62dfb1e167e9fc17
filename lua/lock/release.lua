#!lua flags=allow-oom
-- Frees a lock, if it is still held by the token, and tells those who wait: an empty message on unlock:<what follows
-- mutex: in its key>.
-- A script: between a look and a DEL the lock could become another's.
-- KEYS  the lock
-- ARGV  1 token
-- Reply u8: 1 freed, 0 not held by the token
-- Law   repeating a call frees nobody else's hold, and answers 0 for what the first has freed.
-- Cost  O(subscribers)
-- @include lock/holder
local keys_per_step = 1
local arguments_per_step = 1

local function step(k, a, now)
  local lock, token = KEYS[k], ARGV[a]
  if holder_of(lock, now) ~= token then return "\0" end
  redis.call("DEL", lock)
  -- Where a user may not publish, waiters wait for the expiry that they know of; the lock is free all the same.
  redis.pcall("PUBLISH", "unlock:" .. string.sub(lock, 7), "")
  return "\1"
end
