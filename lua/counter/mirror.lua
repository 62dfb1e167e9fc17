#!lua
-- Adds to a plain key that other programs read with GET, and extends its expiry.
-- A script: a failure between the two commands would leave a key that never expires.
-- KEYS  the key
-- ARGV  count, decimal text without sign · how long it is kept, ms
-- Reply u8 0
-- Errors ERROR if the key holds another value, or would exceed 2^63 - 1; nothing was written
-- Cost  O(1)
local keys_per_step = 1
local arguments_per_step = 2
local function step(k, a, now)
  local keep_ms = tonumber(ARGV[a + 1])
  redis.call("INCRBY", KEYS[k], ARGV[a])
  redis.call("PEXPIREAT", KEYS[k], string.format("%.0f", now + keep_ms))
  return "\0"
end
