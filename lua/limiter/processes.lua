#!lua
-- Notes that a process uses a limiter, and counts those that do.
-- KEYS  1 the processes: a sorted set, id to the ms when it was noted last.
-- ARGV  1 the process's id.
-- Reply the number of processes, with this one.
-- Law   A process counts until CALLER_LIFE_MS after it was noted, then it is forgotten. So are those that were noted later than
--       now, after the clock was set back. Above MAX_CALLERS, the one that was noted longest ago is forgotten.
-- Cost  O(log processes), and O(1) for each that is forgotten
-- @include layouts/limiter
local keys_per_step = 1
local arguments_per_step = 1

local function step(k, a, now)
  local key, time = KEYS[k], string.format("%.0f", now)
  redis.call("ZREMRANGEBYSCORE", key, "-inf", string.format("%.0f", now - CALLER_LIFE_MS))
  redis.call("ZREMRANGEBYSCORE", key, "(" .. time, "inf")
  redis.call("ZADD", key, time, ARGV[a])
  if redis.call("ZCARD", key) > MAX_CALLERS then redis.call("ZREMRANGEBYRANK", key, "0", "0") end
  redis.call("PEXPIREAT", key, string.format("%.0f", now + CALLER_LIFE_MS))
  return tostring(redis.call("ZCARD", key))
end
