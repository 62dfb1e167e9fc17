#!lua flags=allow-oom
-- Reads the state of a name. Changes nothing.
-- KEYS  1 the state of the name (lua/hold/turn.lua)
-- ARGV  none
-- Reply LOOKED, then the state as it is stored; empty: there is none
-- Law   all of it is from one moment.
-- Cost  O(bytes of the state)
-- @include layouts/hold
local keys_per_step = 1
local arguments_per_step = 0

local function step(k, a, now)
  return struct.pack(LOOKED, now) .. (redis.call("GET", KEYS[k]) or "")
end
