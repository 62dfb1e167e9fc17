#!lua
-- Writes a locked window back, if nobody has read it under the lock since.
-- A script: between a look at the mark and a write another could begin.
-- KEYS  a hash: fields timestamps, values and mark
-- ARGV  1 fence of the hold that read · 2 its nonce · 3 timestamps · 4 values · 5 span, ms
-- Reply u8 1
-- Law   written only under the hold's own mark: not by one whose lease ran out and whose place was taken, not into a hash
--       that was deleted meanwhile. Expires twice the span from now. Repeating a call writes the same bytes again.
-- Errors STALE
-- Cost  O(bytes)
-- @include store/refuse
local keys_per_step = 1
local arguments_per_step = 5

local function step(k, a, now)
  local key, mark, span = KEYS[k], ARGV[a] .. ":" .. ARGV[a + 1], tonumber(ARGV[a + 4])
  if redis.call("HGET", key, "mark") ~= mark then
    return refuse("STALE", "the window was read or deleted by another since: nothing was written")
  end
  redis.call("HSET", key, "timestamps", ARGV[a + 2], "values", ARGV[a + 3])
  redis.call("PEXPIREAT", key, string.format("%.0f", now + 2 * span))
  return "\1"
end
