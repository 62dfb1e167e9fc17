#!lua flags=allow-oom
-- Reads for how long readers may still hold a lock.
-- KEYS  1 the lock of the writers · 2 the readers (lua/lock/acquire-shared.lua)
-- ARGV  none
-- Reply READERS: their number, and ms until the last of their leases has ended; 0: there is none
-- Law   changes nothing.
-- Cost  O(log readers)
-- @include layouts/lock
local keys_per_step = 2
local arguments_per_step = 0

local function step(k, a, now)
  local readers = KEYS[k + 1]
  local count = redis.call("ZCOUNT", readers, string.format("%.0f", now), "+inf")
  if count == 0 then return struct.pack(READERS, 0, 0) end
  local longest = redis.call("ZREVRANGE", readers, 0, 0, "WITHSCORES")
  return struct.pack(READERS, count, longest[2] - now + 1)
end
