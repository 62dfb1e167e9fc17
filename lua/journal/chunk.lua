-- A chunk's header, 64 bytes, little-endian:
--   0 u8 format · u8 value type · u16 flags · 4 u32 chunkMs · 8 f64 number · 16 f64 created · 24 u32 birth
--   28 u32 birth before · 32 f64 last stamp · 40 f64 retentionMs · 48 f64 complete since · 56 f64 latest `at`
local HEADER_BYTES = 64
local HEADER_LAYOUT = "<BBI2I4ddI4I4dddd"

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
