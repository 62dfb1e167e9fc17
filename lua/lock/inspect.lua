#!lua flags=allow-oom
-- Reads the state of a lock. Changes nothing.
-- KEYS  1 the lock · 2 the last fence, in decimal · 3 the queue of waiting processes
-- ARGV  none
-- Reply INSPECTED, then the holder's token, the last fence and the queue as they are stored. The lengths of the first two are
--       in the record. Without a holder the token is empty and left_ms is 0; -1: the hold never expires.
-- Law   all three are from one moment.
-- Cost  O(places)
-- @include layouts/lock
local keys_per_step = 3
local arguments_per_step = 0

local function step(k, a, now)
  local lock, last, queue = KEYS[k], KEYS[k + 1], KEYS[k + 2]
-- @include lock/holder
  local left_ms = holder and (expiry < 0 and -1 or expiry - now) or 0
  holder = holder or ""
  local fence = redis.call("GET", last) or ""
  return struct.pack(INSPECTED, left_ms, now, #holder, #fence) .. holder .. fence .. (redis.call("GET", queue) or "")
end
