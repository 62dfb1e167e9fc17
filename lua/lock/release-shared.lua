#!lua flags=allow-oom
-- Ends a reader's hold, and notifies a writer that waits until the readers have left.
-- One atomic step: another reader could leave between the removal and the check, and no notice would be sent.
-- KEYS  1 the lock of the writers · 2 the readers (lua/lock/acquire-shared.lua)
-- ARGV  1 token · 2 and 3 unused, as those of lock/release
-- Reply u8: 1 released, 0 not held by the token
-- Law   a repeated call changes nothing, but answers 0.
-- Cost  O(log readers)
local keys_per_step = 2
local arguments_per_step = 3

local function step(k, a, now)
  local lock, readers, token = KEYS[k], KEYS[k + 1], ARGV[a]
  local ends = tonumber(redis.call("ZSCORE", readers, token) or -1)
  redis.call("ZREM", readers, token)
  if ends < now then return "\0" end
  local text = string.format("%.0f", now)
  if redis.call("ZCOUNT", readers, text, "+inf") == 0 and redis.call("EXISTS", lock) == 1 then
    redis.pcall("PUBLISH", "unlock:" .. string.sub(lock, 7) .. ":writer", "")
  end
  return "\1"
end
