#!lua
-- Frees a lock, if it is still held by the token, and hands it on to the first who waits.
-- A script: between a look and a DEL the lock could become another's.
-- KEYS  1 the lock · 2 who waits for it
-- ARGV  1 token · 2 id of the releasing process, if others wait in it, or nothing · 3 1: it asks right behind this call
--       and is the first, untold; 0: it is the last
-- Reply u8: 1 freed, 0 not held by the token
-- Law   repeating a call frees nobody else's hold, and answers 0 for what the first has freed.
-- Cost  O(places)
-- @include lock/law
-- @include lock/holder
-- @include lock/hand-on
local keys_per_step = 2
local arguments_per_step = 3

local function step(k, a, now)
  local lock, queue = KEYS[k], KEYS[k + 1]
  local token, id, is_next = ARGV[a], ARGV[a + 1], ARGV[a + 2] == "1"
  if holder_of(lock, now) ~= token then return "\0" end
  local _, called, places = read_queue(queue, now)
  if id ~= "" then
    if is_next then
      places = id .. digits(now) .. without(places, id)
    else
      places = with(places, id, now)
    end
  end
  redis.call("DEL", lock)
  hand_on(lock, queue, called, places, now, is_next)
  return "\1"
end
