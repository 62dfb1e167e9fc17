-- @include limiter/state
-- The small form of a sliding window, a log of at most LOG_MOST_BYTES: SLIDING_LOG, UNTIL if one is set, then a record for each ms
-- with permits, the oldest first. Each change writes the whole log, without spare room.
-- A record has the lowest bytes of its time, then those of the running total with it. Times lie less than the longest span
-- before the newest one, and totals less than `used` before the last one, so these bytes are enough. There are no totals while
-- each record has one permit. The length must be exact, so a truncated log is CORRUPT.
-- `p` has log: the text; from: the place of its first record; stamp, frame: the newest time and the total before all records
-- when it was written.
-- Formats of integers by their bytes.
local unsigned = { "<I1", "<I2", "<I3", "<I4", "<I5", "<I6" }

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

-- Returns the time and the total of a record, which is not checked.
local function of_log(p, index)
  local at = p.from + index * (p.ms_bytes + p.total_bytes)
  local ms = p.stamp - (p.stamp - struct.unpack(unsigned[p.ms_bytes], p.log, at)) % 256 ^ p.ms_bytes
  if p.total_bytes == 0 then return ms, p.frame + index + 1 end
  local total = struct.unpack(unsigned[p.total_bytes], p.log, at + p.ms_bytes)
  return ms, p.before + (total - p.before) % 256 ^ p.total_bytes
end

-- Reads a log. Everything but the order of the records between the first and the last is checked.
local function look_at_log(p, text, now)
  local format_and_kind, until_bytes, used
  format_and_kind, p.ms_bytes, p.total_bytes, p.records, until_bytes, p.newest, p.longest, used = struct.unpack(SLIDING_LOG, text)
  p.there, p.log, p.from, p.stamp = true, text, SLIDING_LOG_BYTES + until_bytes + 1, p.newest
  local most = p.total_bytes == 0 and p.records or p.records > 0 and 256 ^ p.total_bytes - 1 or 0
  if not unsigned[p.ms_bytes] or p.total_bytes > 6 or until_bytes ~= 0 and until_bytes ~= UNTIL_BYTES
    or #text ~= p.from - 1 + p.records * (p.ms_bytes + p.total_bytes) or used < p.records or used > most
    or not is_whole(p.newest) or not is_whole(p.longest) or p.longest > 256 ^ p.ms_bytes then
    damaged(p.key, "it is not the log of a sliding window, or has another length")
  end
  local blocked, holds = 0, 0
  if until_bytes > 0 then blocked, holds = struct.unpack(UNTIL, text, SLIDING_LOG_BYTES + 1) end
  read_ends(p, blocked, holds, now)
  if p.records == 0 then return end
  if p.total_bytes > 0 then
    local last = struct.unpack(unsigned[p.total_bytes], text, #text - p.total_bytes + 1)
    p.before = (last - used) % 256 ^ p.total_bytes
  end
  p.total = p.before + used
  local ms, total = of_log(p, 0)
  local newest = of_log(p, p.records - 1)
  p.oldest = ms
  if newest ~= p.newest or ms < 0 or ms <= newest - p.longest or total <= p.before then
    damaged(p.key, "a record of the window is out of order")
  end
end

-- Returns the number of records of at least the age `gone`, which the first one has. Doubling steps, then halves.
local function count_gone(text, records, width, ms_format, modulus, newest, gone)
  local low, high, step = 1, records, 1
  while low < high do
    local probe = step > 0 and math.min(low + step - 1, high - 1) or math.floor((low + high) / 2)
    if (newest - struct.unpack(ms_format, text, SLIDING_LOG_BYTES + 1 + probe * width)) % modulus >= gone then
      low, step = probe + 1, step * 2
    else
      high, step = probe, 0
    end
  end
  return low
end

-- The fast path of a new id: its log has one record.
local function quick_start(key, calls, cost, limit, span, now)
  local passes, ms_bytes, total_bytes = passes_of(calls, limit / cost), bytes_of(span - 1), 0
  if passes < calls or ms_bytes > 6 then return end
  local permits = passes * cost
  if permits > 1 then total_bytes = bytes_of(limit) end
  redis.call("SET", key, struct.pack(SLIDING_LOG, FORMAT_AND_KIND_SLIDING_LOG, ms_bytes, total_bytes, 1, 0, now, span, permits)
    .. log_record(now, permits, ms_bytes, total_bytes), "PXAT", text_of(now + span))
  return passes, permits, 0, span
end

-- The fast path of a log.
local function quick_log(key, text, calls, cost, limit, span, now)
  if #text < SLIDING_LOG_BYTES then return end
  local format_and_kind, ms_bytes, total_bytes, records, until_bytes, newest, longest, used = struct.unpack(SLIDING_LOG, text)
  local ms_format, width, modulus, total_modulus = unsigned[ms_bytes], ms_bytes + total_bytes, 256 ^ ms_bytes, 256 ^ total_bytes
  if format_and_kind ~= FORMAT_AND_KIND_SLIDING_LOG or not ms_format or total_bytes > 6 or until_bytes ~= 0 or longest ~= span
    or span > modulus or records == 0 or #text ~= SLIDING_LOG_BYTES + records * width or newest % 1 ~= 0
    or newest < 0 or newest > MAX_NUMBER or used < records or total_bytes == 0 and used > records
    or total_bytes > 0 and used >= total_modulus
    or struct.unpack(ms_format, text, #text - width + 1) ~= newest % modulus then
    return
  end
  local at, first, last = now > newest and now or newest, 0, 0
  local age = (newest - struct.unpack(ms_format, text, SLIDING_LOG_BYTES + 1)) % modulus
  if age >= span or age > newest then return end
  if total_bytes > 0 then last = struct.unpack(unsigned[total_bytes], text, #text - total_bytes + 1) end
  local gone = newest + span - at
  if age >= gone then
    first = count_gone(text, records, width, ms_format, modulus, newest, gone)
    used = records - first
    if total_bytes > 0 then
      used = (last - struct.unpack(unsigned[total_bytes], text, SLIDING_LOG_BYTES + 1 + first * width - total_bytes)) % total_modulus
    end
  end
  local passes, from = passes_of(calls, (limit - used) / cost), SLIDING_LOG_BYTES + 1 + first * width
  if passes == 0 and cost <= limit and redis.call("PTTL", key) ~= -1 then
    -- Denied: with totals, usually the end of the oldest record alone makes room.
    local over = used + cost - limit
    if total_bytes == 0 then
      from = from + (over - 1) * width
    elseif (struct.unpack(unsigned[total_bytes], text, from + ms_bytes) - last + used) % total_modulus < over then
      return
    end
    return 0, used, newest - (newest - struct.unpack(ms_format, text, from)) % modulus + span - now, newest + span - now
  end
  local permits, is_new = passes * cost, at ~= newest
  used = used + permits
  if passes < calls or total_bytes == 0 and (permits > 1 or not is_new) or total_bytes > 0 and used >= total_modulus
    or is_new and #text - from + 1 + width > LOG_MOST_BYTES - SLIDING_LOG_BYTES then
    return
  end
  redis.call("SET", key,
    struct.pack(SLIDING_LOG, FORMAT_AND_KIND_SLIDING_LOG, ms_bytes, total_bytes, records - first + (is_new and 1 or 0), 0, at, span, used)
    .. string.sub(text, from, is_new and -1 or -1 - width) .. log_record(at, last + permits, ms_bytes, total_bytes),
    "PXAT", text_of(at + span))
  return passes, used, 0, at + span - now
end
