#!lua flags=allow-oom
-- Writes the queue's layout into the home shard, which every number of shards includes, or compares it.
-- A script: the layout is compared and written in one step, so that of two processes that start at once one is refused.
-- KEYS  1 times · 2 messages, of the home shard
-- ARGV  1 layout
-- Reply u8 0
-- Errors MISMATCH, CORRUPT; nothing was written
-- Law   The home shard of a queue with several shards never expires: a process asks once for its life.
-- Cost  O(1)
-- @include queue/layout
-- @include queue/write-layout
local keys_per_step = 2
local arguments_per_step = 1
local function step(k, a, now)
  local refused = agree(KEYS[k], KEYS[k + 1], ARGV[a])
  if refused then return refused end
  redis.call("HSET", KEYS[k + 1], "@home", "1")
  return "\0"
end
