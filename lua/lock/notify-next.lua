-- Reserves a free lock for the first process in the queue, and notifies it with a message on the channel
-- unlock:<the lock's key after "mutex:">:<id>. It notifies a second process too, in case the first does not come, but at
-- most every 50 ms. If the user may not publish, waiters retry by themselves, and the lock is free all the same.
-- @include lock/queue
-- With is_part, `places` has at most the first two, and the stored places do not change. `message` is empty unless an
-- operator has released the lock.
local function notify_next(lock, queue, noticed, places, now, is_first_notified, is_part, message)
  if places == "" then return end
  local channel = "unlock:" .. string.sub(lock, 7) .. ":"
  local reserved = now + RESERVATION_MS
  local is_second_notified = #places > PLACE_LENGTH and (noticed > now or noticed + SECOND_NOTICE_MS <= now)
  if is_second_notified then noticed = now end
  local first = string.sub(places, 1, ID_LENGTH) .. digits(reserved)
  if is_part then
    redis.call("SETRANGE", queue, 0, digits(reserved) .. digits(noticed) .. first)
    redis.call("PEXPIREAT", queue, digits(now + PLACE_LIFE_MS))
  else
    write_queue(queue, reserved, noticed, first .. string.sub(places, PLACE_LENGTH + 1), now)
  end
  if not is_first_notified then redis.pcall("PUBLISH", channel .. string.sub(places, 1, ID_LENGTH), message or "") end
  if is_second_notified then
    redis.pcall("PUBLISH", channel .. string.sub(places, PLACE_LENGTH + 1, PLACE_LENGTH + ID_LENGTH), message or "")
  end
end
