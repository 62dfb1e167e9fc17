#!lua
-- Acquires a lock for a reader, unless a writer holds it, or it is reserved for another process. Readers hold it together.
-- One atomic step: no writer may come between the check and the entry.
-- KEYS  1 the lock of the writers (lua/lock/acquire.lua) · 2 the last fence, in decimal · 3 the queue of waiting processes,
--       readers and writers · 4 the readers: a sorted set of tokens by the end of their leases, ms
-- ARGV  1 token · 2 lease, ms · 3 id of the process if it waits after a refusal, else empty
-- Reply ACQUIRED. Acquired: the reader holds the lock at least until now + lease
-- Law   As lock/acquire. A reader enters while other readers hold the lock, and passes its reservation to the next process. A
--       writer that has the lock waits until the readers have left, so readers that ask later wait for it. A repeated call
--       shortens nothing; its fence may be higher.
-- Cost  O(places + log readers)
-- @include layouts/lock
local keys_per_step = 4
local arguments_per_step = 3
-- @include lock/reserve

local function step(k, a, now)
  local call = redis.call
  local lock, last, queue, readers = KEYS[k], KEYS[k + 1], KEYS[k + 2], KEYS[k + 3]
  local token, lease, id = ARGV[a], tonumber(ARGV[a + 1]), ARGV[a + 2]
  local ends = now + lease
  local before_ends = tonumber(call("ZSCORE", readers, token) or -1)
  local last_ends = call("PEXPIRETIME", readers)
  if before_ends >= now then
    if ends > before_ends then call("ZADD", readers, string.format("%.0f", ends), token) end
    if ends > last_ends then call("PEXPIREAT", readers, string.format("%.0f", ends)) end
    return struct.pack(ACQUIRED, STATUS_ACQUIRED, tonumber(call("GET", last) or 0))
  end
-- @include lock/enter
  call("ZADD", readers, string.format("%.0f", ends), token)
  call("ZREMRANGEBYSCORE", readers, "-inf", "(" .. string.format("%.0f", now))
  if ends > last_ends then call("PEXPIREAT", readers, string.format("%.0f", ends)) end
  if places ~= "" then
    if id ~= "" then places = without(places, id) end
    if places == "" then
      write_queue(queue, 0, noticed, places, now)
    else
      notify_next(lock, queue, noticed, places, now, false)
    end
  end
  return struct.pack(ACQUIRED, STATUS_ACQUIRED, fence)
end
