#!lua flags=allow-oom
-- Extends a hold, if its token still has it.
-- One atomic step: between a check and a write the hold could end.
-- KEYS  1 the state of the name (lua/hold/turn.lua)
-- ARGV  1 token · 2 lease, ms
-- Reply u8: 1 held at least until now + lease, 0 not held by the token
-- Law   never shortens a hold. A repeated call changes nothing else.
-- Cost  O(bytes of the state)
-- @include hold/read-state
local keys_per_step = 1
local arguments_per_step = 2

local function step(k, a, now)
  local key, token, new_ends = KEYS[k], ARGV[a], now + tonumber(ARGV[a + 1])
  local text = redis.call("GET", key)
  if not text then return "\0" end
  local trials, count, used, first_end, last_end, last, holds_end = read_state(key, text)
  for first = HEAD_BYTES + 1, holds_end, HOLD_LENGTH do
    if string.sub(text, first + HOLD_BYTES, first + HOLD_LENGTH - 1) == token then
      local number, permits, ends, on_trial = struct.unpack(HOLD, text, first)
      if ends < now then return "\0" end
      ends = math.max(ends, new_ends)
      last_end = math.max(last_end, ends)
      if count == 1 then first_end = ends end
      redis.call("SET", key, struct.pack(HEAD, FORMAT, trials - on_trial, count, used, first_end, last_end, last)
        .. string.sub(text, HEAD_BYTES + 1, first - 1) .. struct.pack(HOLD, number, permits, ends, 0) .. token
        .. string.sub(text, first + HOLD_LENGTH), "PXAT", string.format("%.0f", last_end + NUMBER_LIFE_MS))
      return "\1"
    end
  end
  return "\0"
end
