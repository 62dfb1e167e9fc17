-- The step of server-stats and server-stats-far, which differ in their number of keys: each key costs Redis time, and all
-- calls of an operation have the same number.
-- Computes statistics of one window inside the server.
-- One atomic step: the chunks are of one instant. Some hundred bytes leave the server, whatever the window.
-- It writes nothing but has no flag `no-writes`, so that a demoted primary refuses it (see read).
-- KEYS  1 the open chunk · 2 ... the closed chunks of ARGV 1's number, number - 1, ...; unused ones: the open one
-- ARGV  1 u8 value type · u8 clock · u8 closed (0 right, 1 both) · u8 1 if `at` is given · u32 number of named
--         closed chunks · f64 the newest one's number · f64 span, ms · f64 at, ms
--       2 percentiles, f64 each, ascending
-- Reply 0 u8 status · 1 u8 1 if the chunk before the oldest one read is missing · 2 u16 zero · 4 u32 length
--       8 f64 now · 16 f64 the oldest chunk's creation, ms, or latest `at` · 24 header, 64 bytes, of the open chunk
--       Status 0 adds: 88 u32 events · u32 numbers · u32 +infinity · u32 -infinity · f64 min · f64 max · f64 sum, high
--       · f64 sum, low · f64 M2, these three times · f64 scale; then per percentile the numbers of five 0-based ranks,
--       floor(numbers * p / 100) - 2 to + 2, limited to 0 and numbers - 1. Every method needs only these.
--       Status 1 no chunk, 2 mismatch, 6 unknown format, 7 other closed chunks are needed, 8 the chunks do not link,
--       9 a chunk of the window is sealed, so the caller must compute the answer
-- Error TOO_LARGE, CORRUPT
-- Cost  O(bytes of the chunks), bounded, because Redis serves no other client during the step
-- @include journal/chunk
-- @include journal/inside
-- @include summary/moments
-- @include summary/ranks

-- Whether a window from `from` may need the previous chunk (src/journal/replica/journal-reader.ts, needsOlder).
local function needs_older(clock, birth_before, created, latest, from)
  return birth_before ~= 0 and (clock == 1 and latest or created + EARLY_MS) >= from - DEDUPE_MS
end

-- Returns the chunks that a window from `from` needs, oldest first; nil and a status if KEYS lacks them.
local function gather(k, header, length, from, named, newest)
  local chunks, bytes, key, missing = {}, length, KEYS[k], 0
  while true do
    local clock_and_guard, chunk_ms, number, created, birth_before, latest = struct.unpack(CHUNK, header)
    local clock = clock_of(clock_and_guard)
    table.insert(chunks, 1, { key = key, number = number, created = created, reach = clock == 1 and latest or created })
    if bytes > MAX_SERVER_BYTES and #chunks == 1 then
      return nil, refuse("TOO_LARGE", "the open chunk alone has " .. bytes .. " bytes; statistics inside Redis read at most "
        .. MAX_SERVER_BYTES .. ", whatever the span: use where: \"client\", or try again when it is closed, at "
        .. ROTATE_BYTES .. " bytes or " .. chunk_ms .. " ms after it began")
    end
    if bytes > MAX_SERVER_BYTES then
      return nil, refuse("TOO_LARGE", "the chunks of the window have more than " .. MAX_SERVER_BYTES
        .. " bytes, " .. bound_text)
    end
    if not needs_older(clock, birth_before, created, latest, from) then return chunks, missing end
    local place = newest - (number - 1)
    if place < 0 or place >= named then
      if #chunks == MAX_SERVER_CHUNKS then
        return nil, refuse("TOO_LARGE", "the window covers more than " .. MAX_SERVER_CHUNKS - 1
          .. " closed chunks, " .. bound_text)
      end
      return nil, 7
    end
    key = KEYS[k + 1 + place]
    header = redis.pcall("GETRANGE", key, "0", CHUNK_LAST_BYTE_TEXT)
    if header == "" then return chunks, 1 end
    local form = type(header) == "string" and #header >= CHUNK_BYTES and string.byte(header)
    if form ~= FORMAT and form ~= SEALED_FORMAT then
      return nil, refuse("CORRUPT", 'the value of the key "' .. key .. '" is damaged: it is not a journal of format ' .. FORMAT
        .. " or " .. SEALED_FORMAT)
    end
    local birth = struct.unpack(CHUNK, header)
    if birth ~= birth_before then return nil, 8 end
    if form == SEALED_FORMAT then return nil, 9 end
    bytes = bytes + redis.call("STRLEN", key)
  end
end

-- Returns the number of a rank. Comparisons treat -0 as +0, so a zero gets its sign by its rank.
local function signs(values, numbers)
  local negative
  return function(x, rank)
    if x ~= 0 then return x end
    if not negative then
      negative = 0
      for i = 1, numbers do
        if values[i] < 0 or (values[i] == 0 and 1 / values[i] < 0) then negative = negative + 1 end
      end
    end
    return rank < negative and -1 / math.huge or 0
  end
end

local function ordered(values, numbers, percentiles, signed)
  local replies, done = {}, 0
  -- Many selections cost more than a sort.
  local whole = #percentiles > 64
  if whole then place(values, 1, numbers, 1, numbers) end
  for at = 1, #percentiles, 8 do
    local base = math.floor(numbers * struct.unpack("<d", percentiles, at) / 100)
    local from, to = math.max(done + 1, base - 1), math.min(numbers, base + 3)
    if not whole and from <= to then place(values, done + 1, numbers, from, to) end
    done = math.max(done, to)
    for rank = base - 2, base + 2 do
      local held = math.max(0, math.min(numbers - 1, rank))
      replies[#replies + 1] = struct.pack("<d", signed(values[held + 1], held))
    end
  end
  return table.concat(replies)
end

local function window_stats(k, a, now)
  local asked_type, asked_clock, both, dated, named, newest, span, at = struct.unpack(SERVER_QUERY, ARGV[a])
  local header = redis.call("GETRANGE", KEYS[k], "0", CHUNK_LAST_BYTE_TEXT)
  if header == "" then return struct.pack(SERVER_ANSWER, 1, 0, 0, 0, now, 0) end
  if string.byte(header) ~= FORMAT then return struct.pack(SERVER_ANSWER, 6, 0, 0, 0, now, 0) end
  local value_type, clock_and_guard, birth, birth_before, last, latest = struct.unpack(CHUNK, header)
  local clock, length = clock_of(clock_and_guard), redis.call("STRLEN", KEYS[k])
  if length == CHUNK_BYTES and birth_before == 0 then return struct.pack(SERVER_ANSWER, 1, 0, 0, 0, now, 0) end
  local function answer(status, missing, reach, rest)
    return struct.pack(SERVER_ANSWER, status, missing, 0, length, now, reach) .. header .. rest
  end
  if value_type ~= asked_type or clock ~= asked_clock then return answer(2, 0, 0, "") end

  local to = dated == 1 and at or (clock == 1 and latest or math.max(now, last))
  local from = to - span
  local chunks, missing = gather(k, header, length, from, named, newest)
  if not chunks then return type(missing) == "table" and missing or answer(missing, 0, 0, "") end
  -- Times are whole ms, so `from < t` is `from + 1 <= t`.
  local ok, values, count = pcall(inside, chunks, value_type, both == 1 and from or from + 1, to)
  if not ok then
    if type(values) == "table" and values.code then return refuse(values.code, values.text) end
    error(values, 0)
  end
  local numbers, infinite, negative_infinite, min, max, high, low, m2, scale = moments(values, count)
  math.randomseed(birth)
  local signed = signs(values, numbers)
  return answer(0, missing, chunks[1].reach, struct.pack(SERVER_MOMENTS, count, numbers, infinite, negative_infinite,
    signed(min, 0), signed(max, numbers - 1), high, low, m2, scale)
    .. (numbers == 0 and "" or ordered(values, numbers, ARGV[a + 1], signed)))
end
