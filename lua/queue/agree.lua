#!lua flags=allow-oom
-- Writes the queue's layout into the home shard, which every number of shards includes, or compares it.
-- A script: the layout is compared and written in one step, so that of two processes that start at once one is refused.
-- KEYS  1 times · 2 messages, of the home shard
-- ARGV  1 layout
-- Reply u8 0
-- Errors MISMATCH, CORRUPT; nothing was written
-- Cost  O(1)
-- @include queue/layout
local keys_per_step = 2
local arguments_per_step = 1
local function step(k, a, now)
  return agree(KEYS[k], KEYS[k + 1], ARGV[a]) or "\0"
end
