#!lua flags=allow-oom
-- Lists dead messages, the earliest death first.
-- A script: the list and the contents are of one instant.
-- KEYS  1 times · 2 messages
-- ARGV  1 layout · 2 number of messages to skip · 3 maximum number of messages, 1..256
-- Reply the messages (queue/stored-message)
-- Errors MISMATCH, CORRUPT
-- Cost  O(log(stored messages) + skipped + listed)
-- @include queue/layout
-- @include queue/stored-message
local keys_per_step = 2
local arguments_per_step = 3
local function step(k, a, now)
  local times, messages = KEYS[k], KEYS[k + 1]
  local refused = mismatch(messages, redis.call("HGET", messages, "@layout"), ARGV[a])
  if refused then return refused end
  local from, to = score_of(DEAD, 0, 0), score_of(DEAD, BAND_SIZE, DELIVERIES_SIZE - 1)
  return stored_messages(messages,
    redis.call("ZRANGE", times, from, to, "BYSCORE", "LIMIT", ARGV[a + 1], ARGV[a + 2], "WITHSCORES"))
end
