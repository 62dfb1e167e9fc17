#!lua flags=allow-oom
-- Frees a lock of any holder, for operators, and reserves it for the first process in the queue.
-- One atomic step: between a GET and a DEL another process could acquire the lock.
-- KEYS  1 the lock · 2 the last fence, in decimal · 3 the queue of waiting processes
-- ARGV  the fence of the hold to end, in decimal; empty: any hold
-- Reply u8: 1 freed, 0 not held, or held with another fence
-- Law   a repeated call with a fence frees no other hold. The message "forced" lets the holder's process wait again at once.
-- Cost  O(places)
-- @include layouts/lock
-- @include lock/notify-next
local keys_per_step = 3
local arguments_per_step = 1

local function step(k, a, now)
  local lock, last, queue, fence = KEYS[k], KEYS[k + 1], KEYS[k + 2], ARGV[a]
-- @include lock/holder
  if not holder or (fence ~= "" and redis.call("GET", last) ~= fence) then return "\0" end
  local _, noticed, places = read_queue(queue, redis.call("GET", queue), now)
  redis.call("DEL", lock)
  notify_next(lock, queue, noticed, places, now, false, false, "forced")
  return "\1"
end
