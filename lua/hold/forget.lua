#!lua flags=allow-oom
-- Deletes the state of a name that nobody holds or waits for, or that is damaged. For names whose numbers prove nothing.
-- KEYS  1 the state of the name (lua/hold/turn.lua)
-- ARGV  none
-- Reply u8: 1 deleted, 0 not
-- Law   deletes no hold and no place. A repeated call changes nothing.
-- Cost  O(bytes of the state)
-- @include hold/read-state
local keys_per_step = 1
local arguments_per_step = 0

local function step(k, a, now)
  local text = redis.pcall("GET", KEYS[k])
  if not text then return "\0" end
  if type(text) == "string" and #text ~= HEAD_BYTES and pcall(read_state, KEYS[k], text) then return "\0" end
  redis.call("DEL", KEYS[k])
  return "\1"
end
