#!lua flags=allow-oom
-- Reads a message and its state.
-- A script: state and content are of one instant.
-- KEYS  1 times · 2 messages
-- ARGV  1 layout · 2 id
-- Reply empty: no such message; or FOUND · its value in `messages` · SIZED · why it last failed
-- Errors MISMATCH, CORRUPT
-- Cost  O(1)
-- @include queue/layout
local keys_per_step = 2
local arguments_per_step = 2
local function step(k, a, now)
  local id = ARGV[a + 1]
  local known = redis.call("HMGET", KEYS[k + 1], ":" .. id, "!" .. id, "@layout")
  local refused = mismatch(KEYS[k + 1], known[3], ARGV[a])
  if refused then return refused end
  if not known[1] then return "" end
  local score = redis.call("ZSCORE", KEYS[k], string.sub(known[1], 1, SEQ_DIGITS) .. id)
  if not score then return "" end
  local why = known[2] or ""
  return struct.pack(FOUND, tonumber(score), #known[1]) .. known[1] .. struct.pack(SIZED, #why) .. why
end
