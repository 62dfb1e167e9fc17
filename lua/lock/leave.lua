#!lua flags=allow-oom
-- Gives up a process's place among those who wait for a lock, and with it what was promised to it.
-- A script: the next is called in the step that ends the promise.
-- KEYS  1 the lock · 2 who waits for it
-- ARGV  id of the process
-- Reply u8 1
-- Law   repeating a call changes nothing.
-- Cost  O(places)
-- @include lock/law
-- @include lock/hand-on
local keys_per_step = 2
local arguments_per_step = 1

local function step(k, a, now)
  local lock, queue, id = KEYS[k], KEYS[k + 1], ARGV[a]
-- @include lock/holder
  local promised, called, places = read_queue(queue, redis.call("GET", queue), now)
  local at = string.find(places, id, 1, true)
  if not at then return "\1" end
  places = without(places, id)
  if at > 1 or promised < now then
    write_queue(queue, promised, called, places, now)
  elseif places == "" or holder then
    write_queue(queue, 0, called, places, now)
  else
    hand_on(lock, queue, called, places, now, false)
  end
  return "\1"
end
