#!lua flags=allow-oom
-- Reads the state of a lock. Changes nothing.
-- KEYS  1 the lock · 2 the last fence, in decimal · 3 the queue of waiting processes
-- ARGV  none
-- Reply INSPECTED, then the holder's token. Without a holder the token is empty and left_ms is 0; -1: the hold never expires.
--       fence is 0 if the lock was never acquired by oriel, or not for a week.
-- Cost  O(places)
-- @include layouts/lock
-- @include lock/queue
local keys_per_step = 3
local arguments_per_step = 0

local function step(k, a, now)
  local lock, last, queue = KEYS[k], KEYS[k + 1], KEYS[k + 2]
-- @include lock/holder
  local _, _, places = read_queue(queue, redis.call("GET", queue), now)
  local fence = tonumber(string.match(redis.call("GET", last) or "0", "^%d+$") or -1)
  if fence < 0 or fence > MAX_FENCE then
    return refuse("CORRUPT", 'the value of the key "' .. last .. '" is damaged: the last fence is not an integer below 2^53 - 1')
  end
  local waiting = 0
  for at = 1, #places, PLACE_LENGTH do
    if ms_in(queue, places, at + ID_LENGTH) >= now then waiting = waiting + 1 end
  end
  local left_ms = holder and (expiry < 0 and -1 or expiry - now) or 0
  return struct.pack(INSPECTED, fence, left_ms, waiting) .. (holder or "")
end
