#!lua flags=allow-oom
-- Releases the permits of a token, and notifies the processes that wait.
-- One atomic step: processes that are notified before the release would find no permit.
-- KEYS  1 the permits in use (lua/semaphore/acquire.lua)
-- ARGV  1 token · 2 the numbers of its permits · 3 the notice's text, empty: none
-- Reply u8: 1 released, 0 not held by the token
-- Law   a repeated call changes nothing, but answers 0. The notice on the channel unlock:<key> is only a hint to try.
-- Cost  O(permits * log permits in use)
local keys_per_step = 1
local arguments_per_step = 3

local function step(k, a, now)
  local key, token, numbers = KEYS[k], ARGV[a], ARGV[a + 1]
  local ends = tonumber(redis.call("ZSCORE", key, token .. "_" .. string.match(numbers, "^%d+")) or -1)
  if ends < 0 then return "\0" end
  for number in string.gmatch(numbers, "%d+") do
    redis.call("ZREM", key, token .. "_" .. number)
  end
  if ends < now then return "\0" end
  if ARGV[a + 2] ~= "" then redis.pcall("PUBLISH", "unlock:" .. key, ARGV[a + 2]) end
  return "\1"
end
