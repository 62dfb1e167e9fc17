-- Promises a free lock to the first who waits, and tells it: an empty message on unlock:<what follows mutex: in the
-- lock's key>:<id>. A second one is told too, so that somebody looks again if the first does not come; where releases
-- follow each other not every time. Where a user may not publish, waiters look by themselves; the lock is free anyway.
-- @include lock/queue
local function hand_on(lock, queue, called, places, now, is_first_told)
  if places == "" then return end
  local channel = "unlock:" .. string.sub(lock, 7) .. ":"
  local promised = now + promise_ms
  local is_second_told = #places > place_length and (called > now or called + watch_ms <= now)
  if is_second_told then called = now end
  places = string.sub(places, 1, id_length) .. digits(promised) .. string.sub(places, place_length + 1)
  write_queue(queue, promised, called, places, now)
  if not is_first_told then redis.pcall("PUBLISH", channel .. string.sub(places, 1, id_length), "") end
  if is_second_told then
    redis.pcall("PUBLISH", channel .. string.sub(places, place_length + 1, place_length + id_length), "")
  end
end
