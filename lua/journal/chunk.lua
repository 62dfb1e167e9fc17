-- Times of a chunk. layouts/journal.mjs declares its header (CHUNK).
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
