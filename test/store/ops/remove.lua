#!lua flags=allow-oom
-- Test step: deletes a key and gives back its bytes. A script: they are one step.
-- KEYS the string · ARGV none · Reply the bytes, "" where there is none · Errors none · Cost O(bytes)
local keys_per_step = 1
local arguments_per_step = 0
local function step(k, a, now)
  local bytes = redis.call("GET", KEYS[k])
  if not bytes then return "" end
  redis.call("DEL", KEYS[k])
  return bytes
end
