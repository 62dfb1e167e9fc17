#!lua
-- Acquires a lock for a token, unless it is held by or reserved for another, and returns the hold's fence.
-- One atomic step: the fence rises with the hold, so the order of fences is the order of holds.
-- KEYS  1 the lock: its holder's token, as redis-semaphore's Mutex stores it · 2 the last fence, in decimal
--       3 the queue of waiting processes
-- ARGV  1 token · 2 lease, ms · 3 id of the process if it waits after a refusal, else empty
-- Reply ACQUIRED. Acquired: the lock is held at least until now + lease
-- Law   fence = max(last + 1, now in us). It rises even if its key is missing, unless the clock is set back. Its key
--       expires a week after the end of the fence's day (UTC), so its expiry is written once a day. A repeated call returns
--       the same fence and shortens nothing.
--       A process that is refused with an id gets a place at the end of the queue. It loses the place if it does not ask
--       for 10 s, and when it gets the lock. A reservation binds the callers of this step only.
--       If a lock is free without a release (its lease ended), the first request reserves it for the first process in the
--       queue. After a missed reservation the lock goes to its owner, if that asks; else to the first process that has asked
--       since; else to the caller.
--       A holder whose token does not begin with "oriel:" publishes no release, so waiters retry within 100 ms.
-- Cost  O(places)
-- @include layouts/lock
local keys_per_step = 3
local arguments_per_step = 3

-- @include lock/reserve

local function step(k, a, now)
  local call = redis.call
  local lock, last, queue = KEYS[k], KEYS[k + 1], KEYS[k + 2]
  local token, lease, id = ARGV[a], tonumber(ARGV[a + 1]), ARGV[a + 2]
-- @include lock/enter
  call("SET", lock, token, "PXAT", "" .. math.max(now + lease, expiry or 0))
  if not holder and places ~= "" then
    write_queue(queue, 0, noticed, id == "" and places or without(places, id), now)
  end
  return struct.pack(ACQUIRED, STATUS_ACQUIRED, fence)
end
