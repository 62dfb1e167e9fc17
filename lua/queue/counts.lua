#!lua flags=allow-oom
-- Counts the waiting, due, claimed and dead messages, and measures how long the oldest due one has been due.
-- A script: the numbers are of one instant.
-- KEYS  1 times · 2 messages
-- ARGV  1 layout
-- Reply COUNTS of layouts/queue.mjs
-- Errors MISMATCH, CORRUPT
-- Cost  O(priorities * log(stored messages))
-- @include queue/layout
local keys_per_step = 2
local arguments_per_step = 1
local function step(k, a, now)
  local times = KEYS[k]
  local known = redis.call("HMGET", KEYS[k + 1], "@levels", "@paused", "@layout")
  local refused = mismatch(KEYS[k + 1], known[3], ARGV[a])
  if refused then return refused end
  local function count(band, from_ms, to_ms)
    return redis.call("ZCOUNT", times, score_of(band, from_ms, 0), score_of(band, to_ms, DELIVERIES_SIZE - 1))
  end
  local waiting, due, oldest = 0, 0, now
  for level in string.gmatch(levels_of(known[1], known[3]), "%d") do
    due = due + count(tonumber(level), 0, now)
    waiting = waiting + count(tonumber(level), now + 1, BAND_SIZE)
    local first = first_of(times, tonumber(level), now, 1)[2]
    if first then
      local _, ms = read_score(tonumber(first))
      oldest = math.min(oldest, ms)
    end
  end
  local is_paused = known[2] and 1 or 0
  local claimed, dead = count(CLAIMED, 0, BAND_SIZE), count(DEAD, 0, BAND_SIZE)
  return struct.pack(COUNTS, waiting, due, claimed, dead, is_paused, now - oldest, now)
end
