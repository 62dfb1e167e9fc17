-- @include limiter/state
-- The small form of a sliding window, a log of at most LOG_MOST_BYTES, or SHORT_LOG_BYTES under a limit above LOG_LIMIT:
-- SLIDING_LOG, UNTIL if one is set, then a record for each ms with permits, the oldest first. Each change writes the whole log,
-- without spare room.
-- A record has the lowest bytes of its time, then those of the running total with it. Times lie less than the longest span
-- before the newest one, and totals less than `used` before the last one, so these bytes are enough. There are no totals while
-- each record has one permit. The length must be exact, so a truncated log is CORRUPT.
-- Formats of integers by their bytes.
local unsigned = { "<I1", "<I2", "<I3", "<I4", "<I5", "<I6" }

local function longest_log(limit)
  return limit > LOG_LIMIT and SHORT_LOG_BYTES or LOG_MOST_BYTES
end

-- Returns the bytes of integers up to `most`. A log has at most 6.
local function bytes_of(most)
  local bytes = 1
  while 256 ^ bytes <= most do bytes = bytes + 1 end
  return bytes
end

local function log_record(ms, total, ms_bytes, total_bytes)
  local record = struct.pack(unsigned[ms_bytes], ms % 256 ^ ms_bytes)
  return total_bytes == 0 and record or record .. struct.pack(unsigned[total_bytes], total % 256 ^ total_bytes)
end

-- Returns the end of the block and the last end of a reservation, or zeros.
local function log_ends(text)
  if #text < SLIDING_LOG_BYTES + UNTIL_BYTES or string.byte(text, SLIDING_LOG_UNTIL_BYTES_AT + 1) == 0 then return 0, 0 end
  local blocked, holds = struct.unpack(UNTIL, text, SLIDING_LOG_BYTES + 1)
  return blocked, holds
end

-- Reads the head of a log, and its first and last record. The ones between are not checked. `last`: the low bytes of the last
-- total. Returns nothing if it is no log.
local function log_head(text)
  if #text < SLIDING_LOG_BYTES then return end
  local format_and_kind, ms_bytes, total_bytes, records, until_bytes, newest, longest, used = struct.unpack(SLIDING_LOG, text)
  local ms_format, from, oldest, last = unsigned[ms_bytes], SLIDING_LOG_BYTES + until_bytes + 1, newest, 0
  local modulus, width, most = 256 ^ ms_bytes, ms_bytes + total_bytes, total_bytes == 0 and records or 256 ^ total_bytes - 1
  if format_and_kind ~= FORMAT_AND_KIND_SLIDING_LOG or not ms_format or total_bytes > 6 or until_bytes % UNTIL_BYTES ~= 0
    or #text ~= from - 1 + records * width or used < records or used > most or records == 0 and used > 0
    or not is_whole(newest) or longest % 1 ~= 0 or longest < 0 or longest > modulus then
    return
  end
  if records > 0 then
    oldest = newest - (newest - struct.unpack(ms_format, text, from)) % modulus
    if oldest < 0 or oldest <= newest - longest or struct.unpack(ms_format, text, #text - width + 1) ~= newest % modulus then return end
    if total_bytes > 0 then
      local total_format = unsigned[total_bytes]
      last = struct.unpack(total_format, text, #text - total_bytes + 1)
      if (struct.unpack(total_format, text, from + ms_bytes) - last + used) % (most + 1) == 0 then return end
    end
  end
  return ms_bytes, total_bytes, records, until_bytes, newest, longest, used, oldest, last
end

-- The fast path of a log, and of a new id.
local function quick_log(key, text, calls, cost, limit, span, now)
  local ms_bytes, total_bytes, records, until_bytes, newest, longest, used, oldest, last = 0, 0, 0, 0, now, span, 0, now, 0
  if text == "" then
    ms_bytes = bytes_of(span - 1)
    if calls * cost > 1 then total_bytes = bytes_of(limit) end
    if ms_bytes > 6 then return end
  else
    ms_bytes, total_bytes, records, until_bytes, newest, longest, used, oldest, last = log_head(text)
    if not ms_bytes or until_bytes > 0 or longest ~= span or records == 0 then return end
  end
  local ms_format, width, modulus, total_modulus = unsigned[ms_bytes], ms_bytes + total_bytes, 256 ^ ms_bytes, 256 ^ total_bytes
  local at, from, left = now > newest and now or newest, SLIDING_LOG_BYTES + 1, records
  while left > 0 and oldest <= at - span do
    from, left = from + width, left - 1
    if left > 0 then oldest = newest - (newest - struct.unpack(ms_format, text, from)) % modulus end
  end
  if total_bytes == 0 then used = left
  elseif left < records then used = (last - struct.unpack(unsigned[total_bytes], text, from - total_bytes)) % total_modulus end
  local passes = passes_of(calls, (limit - used) / cost)
  if passes == 0 and cost <= limit and redis.call("PTTL", key) ~= -1 then
    -- Denied: with totals, usually the end of the oldest record alone makes room.
    local over = used + cost - limit
    if total_bytes == 0 then
      oldest = newest - (newest - struct.unpack(ms_format, text, from + (over - 1) * width)) % modulus
    elseif (struct.unpack(unsigned[total_bytes], text, from + ms_bytes) - last + used) % total_modulus < over then
      return
    end
    return 0, used, oldest + span - now, newest + span - now
  end
  local permits, added = passes * cost, (left == 0 or at ~= newest) and 1 or 0
  used = used + permits
  if passes < calls or total_bytes == 0 and permits > added or total_bytes > 0 and used >= total_modulus
    or SLIDING_LOG_BYTES + (left + added) * width > longest_log(limit) then
    return
  end
  redis.call("SET", key,
    struct.pack(SLIDING_LOG, FORMAT_AND_KIND_SLIDING_LOG, ms_bytes, total_bytes, left + added, 0, at, span, used)
    .. string.sub(text, from, added == 1 and -1 or -1 - width) .. log_record(at, last + permits, ms_bytes, total_bytes),
    "PXAT", text_of(at + span))
  return passes, used, 0, at + span - now
end
