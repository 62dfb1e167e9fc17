#!lua
-- Test step on two keys: moves a value to another key, where it does not expire. A script: the value is never in both or neither.
-- KEYS from, to (one slot) · ARGV none · Reply length, decimal · Errors LOST: nothing there · Cost O(bytes)
local keys_per_step = 2
local arguments_per_step = 0
local function step(k, a, now)
  local length = redis.call("STRLEN", KEYS[k])
  if length == 0 then return refuse("LOST", "nothing to move") end
  redis.call("RENAME", KEYS[k], KEYS[k + 1])
  redis.call("PERSIST", KEYS[k + 1])
  return tostring(length)
end
