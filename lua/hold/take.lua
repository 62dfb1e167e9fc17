#!lua
-- Takes holds of a name for waiters of a process, gives the others a place in the queue, and serves those whose turn it is.
-- One atomic step: no other process may come between the count of permits and the entry.
-- KEYS  1 the state of the name (lua/hold/turn.lua)
-- ARGV  1 id of the process · 2 1: the caller has reason to believe that nobody holds the name or waits, and has one ticket; else 0
--       · 3 1: tickets that are not served wait; else 0 · 4 its tickets, in order of arrival: a PLACE and a token for each; may be
--       empty, to serve others
-- Reply ANSWER, then GRANTED and the token for each hold that the process has got or that this call confirms. is_alone: there is at
--       most one hold, and nobody waits. next_ms: after this time a hold may have ended; 0: there is none
-- Law   the number of a hold is max(last + 1, now in us), so it rises even if the state is lost, unless the clock is set back.
--       A hold lasts at least until now + lease. A call that is sent again grants nothing twice, and shortens nothing.
-- Cost  O(bytes of the state); a hold has 41, a place 32
-- now when needed
local keys_per_step = 1
local arguments_per_step = 4
-- @include store/read-clock
-- @include hold/turn

local function step(k, a, now)
  local key, tickets = KEYS[k], ARGV[a + 3]
  local is_guess, before = ARGV[a + 1] == "1", nil
  -- In us, because a hold may begin in the same ms as the one before.
  local now_us = now and now * 1000 or read_clock_us()
  now = now or math.floor(now_us / 1000)
  if is_guess then
    -- The common case in one command: writes the state in which only this caller has a hold, and looks at what was there.
    local permits, lease = struct.unpack(PLACE, tickets)
    local token, number = string.sub(tickets, PLACE_BYTES + 1), now_us
    local ends = now + lease
    before = redis.call("SET", key, struct.pack(HEAD, FORMAT, 0, 1, permits, ends, ends, number) .. struct.pack(HOLD, number, permits, ends, 0) .. token,
      "PXAT", string.format("%.0f", ends + NUMBER_LIFE_MS), "GET")
    local is_free = not before
    if before and #before == HEAD_BYTES and string.byte(before, 1) == FORMAT then
      local last = struct.unpack(HEAD, before)
      is_free = last < number
    end
    if is_free then return struct.pack(ANSWER, 0, 1, 0, lease + 1) .. struct.pack(GRANTED, number) .. token end
  else
    before = redis.call("GET", key)
  end
  local is_read, serve, ask, remove, save = pcall(turn_functions, key, before, now, ARGV[a])
  if not is_read then
    if is_guess then redis.call("SET", key, before, "KEEPTTL") end
    error(serve)
  end
  serve()
  for at = 1, #tickets, PLACE_LENGTH do
    ask(string.sub(tickets, at, at + PLACE_LENGTH - 1), ARGV[a + 2] == "1")
  end
  return save(is_guess)
end
