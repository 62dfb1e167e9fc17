#!lua flags=allow-oom
-- Frees a lock if the token still holds it, and reserves it for the first process in the queue.
-- One atomic step: between a GET and a DEL another process could acquire the lock.
-- KEYS  1 the lock · 2 the queue of waiting processes
-- ARGV  1 token · 2 id of the releasing process if callers wait in it, else empty · 3 1: it sends a request right after
--       this call, so it gets the first place without a notice; 0: it gets the last place; 2: an operator releases the lock,
--       and the notice "forced" lets callers in the holder's own process ask at once
-- Reply u8: 1 freed, 0 not held by the token
-- Law   a repeated call frees no other hold, and answers 0 after the first has freed the lock.
-- Cost  O(places)
-- now when needed
-- @include layouts/lock
-- @include store/read-clock
local keys_per_step = 2
local arguments_per_step = 3

-- Defined only if processes wait, because each definition of a function costs as much as a read of a key.
local function notify_from(lock, queue, head, id, kind, now)
  local is_next = kind == "1"
-- @include lock/notify-next
  local _, noticed, places, is_as_read = read_queue(queue, head, now)
  local is_part = id == "" and is_as_read
  if not is_part then _, noticed, places = read_queue(queue, redis.call("GET", queue), now) end
  if id ~= "" then
    if is_next then
      places = id .. digits(now) .. without(places, id)
    else
      places = with(places, id, now)
    end
  end
  redis.call("DEL", lock)
  notify_next(lock, queue, noticed, places, now, is_next, is_part, kind == "2" and "forced")
end

local function step(k, a, now)
  local lock, queue = KEYS[k], KEYS[k + 1]
  local token, id, kind = ARGV[a], ARGV[a + 1], ARGV[a + 2]
  if redis.call("GET", lock) ~= token then return "\0" end
  -- The head and the first two places suffice for a notice. The whole queue is read only if places change.
  local head = redis.call("GETRANGE", queue, 0, 83)
  if head ~= "" or id ~= "" then
    notify_from(lock, queue, head ~= "" and head, id, kind, now or read_clock())
  else
    redis.call("DEL", lock)
  end
  return "\1"
end
