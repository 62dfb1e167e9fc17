-- Times of a chunk. layouts/journal.mjs declares its header (CHUNK).
--
-- A delete leaves an empty first chunk: a header without frames and without a chunk before it. For readers it is no chunk. It and
-- the chunks after it have a guard: appends that are void before `guarded_until` may be copies of requests that were written
-- before the delete, and are refused. Such a request had a stamp of at most that of the delete, D, and a void after below
-- D + DEDUPE_MS (see append). So this is the end of the guard.
local function clock_of(clock_and_guard)
  return clock_and_guard % 2
end

local function guarded_until(created, clock_and_guard)
  return clock_and_guard > 1 and created + math.floor(clock_and_guard / 2) or -math.huge
end

-- `ending`: the end of the guard, -inf without one.
local function clock_and_guard_of(clock, created, ending)
  return clock + 2 * math.max(0, ending - created)
end

local function chunk_ms_of(retention)
  return math.max(SHORTEST_CHUNK_MS, math.ceil(retention / CHUNKS_PER_RETENTION))
end

-- Rounded up to whole seconds, so that appends within one second have the same expiry.
local function expiry_of(last, retention, chunk_ms)
  return math.ceil((last + retention + chunk_ms + EXPIRY_SLACK_MS) / 1000) * 1000
end

-- Lua prints large numbers as 1e+14. This prints all digits of whole milliseconds.
local function whole(number)
  return string.format("%.0f", number)
end
