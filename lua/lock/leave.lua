#!lua flags=allow-oom
-- Gives up a process's place in the queue of a lock, and its reservation.
-- One atomic step: it notifies the next process as it ends the reservation.
-- KEYS  1 the lock · 2 the queue of waiting processes
-- ARGV  id of the process
-- Reply u8 1
-- Law   a repeated call changes nothing.
-- Cost  O(places)
-- @include layouts/lock
-- @include lock/notify-next
local keys_per_step = 2
local arguments_per_step = 1

local function step(k, a, now)
  local lock, queue, id = KEYS[k], KEYS[k + 1], ARGV[a]
-- @include lock/holder
  local reserved, noticed, places = read_queue(queue, redis.call("GET", queue), now)
  local at = string.find(places, id, 1, true)
  if not at then return "\1" end
  places = without(places, id)
  if at > 1 or reserved < now then
    write_queue(queue, reserved, noticed, places, now)
  elseif places == "" or holder then
    write_queue(queue, 0, noticed, places, now)
  else
    notify_next(lock, queue, noticed, places, now, false)
  end
  return "\1"
end
