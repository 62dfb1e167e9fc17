#!lua
-- Writes a locked window back, if no other hold of the lock has read it since.
-- Must be a script: otherwise another hold could read between the check of the mark and the write.
-- KEYS  a hash: fields timestamps, values and mark
-- ARGV  1 fence of the hold that read · 2 its nonce · 3 timestamps · 4 values · 5 span, ms
-- Reply u8 1
-- Law   Writes only if the mark is the hold's own. This excludes a hold whose lease expired and that was replaced,
--       and a hash that was deleted since the read. The hash expires at now + 2 * span.
--       A repeated call writes the same bytes.
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
