-- Times of a chunk. layouts/journal.mjs declares its header (CHUNK).
local function chunk_ms_of(retention)
  return math.max(SHORTEST_CHUNK_MS, math.ceil(retention / CHUNKS_PER_RETENTION))
end

-- Whole seconds, up: appends within one second have one expiry.
local function expiry_of(last, retention, chunk_ms)
  return math.ceil((last + retention + chunk_ms + EXPIRY_SLACK_MS) / 1000) * 1000
end

-- Lua prints large numbers as 1e+14: whole milliseconds go to Redis in full.
local function whole(number)
  return string.format("%.0f", number)
end
