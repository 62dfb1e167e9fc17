#!lua flags=allow-oom
-- Frees a lock, if it is still held by the token, and hands it on to the first who waits.
-- A script: between a look and a DEL the lock could become another's.
-- KEYS  1 the lock · 2 who waits for it
-- ARGV  1 token · 2 id of the releasing process, if others wait in it, or nothing · 3 1: it asks right behind this call
--       and is the first, untold; 0: it is the last
-- Reply u8: 1 freed, 0 not held by the token
-- Law   repeating a call frees nobody else's hold, and answers 0 for what the first has freed.
-- Cost  O(places)
-- @include lock/law
local keys_per_step = 2
local arguments_per_step = 3

-- Made where somebody waits only: each function costs as much as a key's read.
local function hand_on_from(lock, queue, head, id, is_next, now)
-- @include lock/hand-on
  local _, called, places, is_as_read = read_queue(queue, head, now)
  local is_part = id == "" and is_as_read
  if not is_part then _, called, places = read_queue(queue, redis.call("GET", queue), now) end
  if id ~= "" then
    if is_next then
      places = id .. digits(now) .. without(places, id)
    else
      places = with(places, id, now)
    end
  end
  redis.call("DEL", lock)
  hand_on(lock, queue, called, places, now, is_next, is_part)
end

local function step(k, a, now)
  local lock, queue = KEYS[k], KEYS[k + 1]
  local token, id, is_next = ARGV[a], ARGV[a + 1], ARGV[a + 2] == "1"
-- @include lock/holder
  if holder ~= token then return "\0" end
  -- Who is told are the first two; all that wait are read where their places change.
  local head = redis.call("GETRANGE", queue, 0, 83)
  if head ~= "" or id ~= "" then
    hand_on_from(lock, queue, head ~= "" and head, id, is_next, now)
  else
    redis.call("DEL", lock)
  end
  return "\1"
end
