#!lua flags=allow-oom
-- Pauses or resumes a queue. Resuming publishes a hint to sleeping workers.
-- A script: resuming and its hint must be one step.
-- KEYS  1 times · 2 messages
-- ARGV  1 layout · 2 "1": pause, "0": resume
-- Reply u8 0
-- Errors MISMATCH, CORRUPT; nothing was written
-- Law   A paused shard does not expire, and an empty one that is resumed does.
-- Cost  O(1)
-- @include queue/layout
-- @include queue/expiry
-- @include queue/write-layout
local keys_per_step = 2
local arguments_per_step = 2
local function step(k, a, now)
  local times, messages = KEYS[k], KEYS[k + 1]
  local refused = agree(times, messages, ARGV[a])
  if refused then return refused end
  if ARGV[a + 1] == "1" then
    redis.call("HSET", messages, "@paused", "1")
  else
    redis.call("HDEL", messages, "@paused")
    expire_if_empty(times, messages, now)
    publish_due(times, 0)
  end
  return "\0"
end
