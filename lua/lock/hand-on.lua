-- Promises a free lock to the first who waits, and tells it: an empty message on unlock:<what follows mutex: in the
-- lock's key>:<id>. A second one is told too, so that somebody looks again if the first does not come; where releases
-- follow each other not every time. Where a user may not publish, waiters look by themselves; the lock is free anyway.
-- @include lock/queue
-- With is_part, places are the first two at most, and all of them stand as they are.
local function hand_on(lock, queue, called, places, now, is_first_told, is_part)
  if places == "" then return end
  local channel = "unlock:" .. string.sub(lock, 7) .. ":"
  local promised = now + PROMISE_MS
  local is_second_told = #places > PLACE_LENGTH and (called > now or called + WATCH_MS <= now)
  if is_second_told then called = now end
  local first = string.sub(places, 1, ID_LENGTH) .. digits(promised)
  if is_part then
    redis.call("SETRANGE", queue, 0, digits(promised) .. digits(called) .. first)
    redis.call("PEXPIREAT", queue, digits(now + PLACE_LIFE_MS))
  else
    write_queue(queue, promised, called, first .. string.sub(places, PLACE_LENGTH + 1), now)
  end
  if not is_first_told then redis.pcall("PUBLISH", channel .. string.sub(places, 1, ID_LENGTH), "") end
  if is_second_told then
    redis.pcall("PUBLISH", channel .. string.sub(places, PLACE_LENGTH + 1, PLACE_LENGTH + ID_LENGTH), "")
  end
end
