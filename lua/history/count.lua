#!lua
-- Adds to a count of what a structure did, and reads its last bins.
-- A script: the bin is chosen by the server's clock, and its old count is replaced in the same step.
-- KEYS  1 the ring, a string of up to BINS bins: a bin is at its number modulo BINS
-- ARGV  1 count to be added; 0 adds none · 2 number of bins that are read, the present one last; 0 reads none
-- Reply LINES_READ · the bins at the places that were asked for, of any time
-- Error CORRUPT names the key; nothing was written
-- Law   A place that has the bin of another time, or none, begins anew. So a count is never larger than what was added.
--       The ring expires BINS * BIN_MS after the last addition.
-- Cost  O(1), and O(bins) to read
-- @include layouts/history
-- @include store/refuse
local keys_per_step = 1
local arguments_per_step = 2

local function part(key, from, to)
  return redis.call("GETRANGE", key, string.format("%.0f", from * BIN_BYTES), string.format("%.0f", to * BIN_BYTES - 1))
end

local function step(k, a, now)
  local key, added, wanted = KEYS[k], tonumber(ARGV[a]), math.min(BINS, tonumber(ARGV[a + 1]))
  local bytes, current = redis.call("STRLEN", key), math.floor(now / BIN_MS)
  if bytes > BINS * BIN_BYTES or bytes % BIN_BYTES ~= 0 then
    return refuse("CORRUPT", 'the value of the key "' .. key .. '" is damaged: it is not a ring of counts')
  end
  local place = current % BINS
  if added > 0 then
    local bin = part(key, place, place + 1)
    if #bin == BIN_BYTES then
      local number, count = struct.unpack(BIN, bin)
      if number == current and count > 0 and count < 2 ^ 53 then added = added + count end
    end
    redis.call("SETRANGE", key, string.format("%.0f", place * BIN_BYTES), struct.pack(BIN, current, added))
    redis.call("PEXPIREAT", key, string.format("%.0f", now + BINS * BIN_MS))
  end
  local head = struct.pack(LINES_READ, now)
  if wanted == 0 then return head end
  local from = (place - wanted + 1) % BINS
  if from <= place then return head .. part(key, from, place + 1) end
  return head .. part(key, from, BINS) .. part(key, 0, place + 1)
end
