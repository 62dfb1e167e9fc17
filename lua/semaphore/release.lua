#!lua flags=allow-oom
-- Releases the permits of a token, and notifies the processes that wait.
-- One atomic step: processes that are notified before the release would find no permit.
-- KEYS  1 the permits in use (lua/semaphore/acquire.lua)
-- ARGV  1 token · 2 the numbers of its permits · 3 1: publish a notice, 0: none
-- Reply u8: 1 released, 0 not held by the token
-- Law   a repeated call changes nothing, but answers 0. The notice on the channel unlock:<key> is only a hint to try.
-- Cost  O(permits * log permits in use)
local keys_per_step = 1
local arguments_per_step = 3

local function step(k, a, now)
  local key, token, numbers, held_until = KEYS[k], ARGV[a], ARGV[a + 1], -1
  for number in string.gmatch(numbers, "%d+") do
    local member = token .. "_" .. number
    held_until = tonumber(redis.call("ZSCORE", key, member) or -1)
    redis.call("ZREM", key, member)
  end
  if held_until < now then return "\0" end
  if ARGV[a + 2] == "1" then redis.pcall("PUBLISH", "unlock:" .. key, "") end
  return "\1"
end
