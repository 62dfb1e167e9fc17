#!lua
-- Test step that may be repeated: counts each 4-byte id once. A script: look and append are one step.
-- KEYS the ids, one string · ARGV 1 id, 4 bytes · Reply number of ids, decimal · Errors none · Cost O(ids)
local keys_per_step = 1
local arguments_per_step = 1
local function step(k, a, now)
  local ids = redis.call("GET", KEYS[k]) or ""
  for place = 1, #ids, 4 do
    if string.sub(ids, place, place + 3) == ARGV[a] then return tostring(#ids / 4) end
  end
  local length = redis.call("APPEND", KEYS[k], ARGV[a])
  redis.call("PERSIST", KEYS[k])
  return tostring(length / 4)
end
