#!lua name=oriel
-- The function oriel_window of oriel: count, sum, mean, min and max of one window of a series, in one request, for any client.
--   FUNCTION LOAD REPLACE <this text>, then   FCALL_RO oriel_window 1 oriel:{name} <span> [<end>]
--   without its first line it is a script:    EVAL_RO <text> 1 oriel:{name} <span> [<end>]
-- KEYS  the open chunk. Closed chunks are found by the numbers in headers, in its slot (lua/README.md, "Found, not declared")
-- ARGV  1 span, whole ms, from 1 to the retention · 2 end of the window, ms since 1970; default: the present of the series, which is the
--         server's time and at least the last stamp, or in a series by its events' clock the latest event
-- Law   The window holds the events with end - span < time <= end, each once, as every reader counts them. count, min and max are exact.
--       The sum is added as a double-double and rounded once, and so is the mean. Series adds in another order, so in rare cases its last
--       digit is rounded the other way. Nothing is written. A replica answers from the bytes and the clock that it has.
-- Reply count, sum, mean, min, max and to (the end), each name before its value: text that reads as the same f64, or nan, inf, -inf. Without
--       events: count 0, sum 0 and nan. Only if there are any follow: nan, the number of NaN, which are left out of all else; and
--       degradedBy, why events may be missing: retention (the window begins before the oldest time in the series), lost or clock
-- Error instead of an answer. ARGUMENT; CORRUPT: a chunk that was read is damaged; LOST: a chunk is missing before it expires, or its slot
--       moves; TOO_LARGE: it would keep the server busy for too long, or the sum is above the largest f64
-- Cost  O(bytes of chunks that are not sealed, and of sealed ones up to their blocks if they ended less than 20 s before one of those or an
--       edge of the window cuts them + sealed chunks + events of blocks that an edge cuts), bounded

-- @include layouts/journal
-- @include journal/chunk
-- @include store/read-clock
-- The most work of one call, in bytes of frames, and the work of a byte under a checksum and of an event of a block at an edge.
local MOST_WORK, CHECKED_WORK, EVENT_WORK = 4194304, 3, 64

local function fail(code, text)
  error({ code = code, text = text })
end

-- A command whose error is the answer. It is wrapped, because pcall of a server makes text of an error that has a field `err`.
local function command(...)
  local reply = redis.pcall(...)
  if type(reply) == "table" and reply.err then error({ refused = reply }) end
  return reply
end

local function corrupt(chunk, text)
  fail("CORRUPT", "the value of the key " .. chunk.key .. " is damaged: it " .. text)
end

local function spend(budget, work)
  budget.left = budget.left - work
  if budget.left < 0 then
    fail("TOO_LARGE", "the window needs too many bytes that are not sealed, or too many blocks at its edges, for one call inside Redis")
  end
end

-- @include journal/tally
-- @include journal/frames-inside
-- @include journal/sealed-inside

local function whole_number(name, text, least)
  local number = string.match(text, "^-?%d+$") and tonumber(text)
  if not number or number < least or number > 9007199254740991 then
    fail("ARGUMENT", name .. " is " .. string.format("%q", string.sub(text, 1, 40)) .. "; it must be whole ms, from " .. whole(least) .. " on")
  end
  return number + 0 -- -0 is 0
end

local function is_date(ms)
  return ms == math.floor(ms) and ms >= 0 and ms <= 8.64e15
end

-- A chunk by the bytes of its header, of which the numbers must be possible. Twin: isSound in src/engine/journal/format/chunk.ts.
local function chunk_of(key, head)
  local chunk = { key = key, head = head }
  if #head < CHUNK_BYTES then corrupt(chunk, "is too short for a chunk") end
  chunk.format, chunk.value_type, chunk.clock_and_guard, chunk.chunk_ms, chunk.number, chunk.created, chunk.birth, chunk.birth_before,
    chunk.last, chunk.retention, chunk.complete, chunk.latest = struct.unpack(CHUNK, head)
  chunk.is_sealed, chunk.clock = chunk.format == SEALED_FORMAT, clock_of(chunk.clock_and_guard)
  if chunk.format ~= FORMAT and not chunk.is_sealed then corrupt(chunk, "is no chunk of a known format") end
  local is_sound = chunk.value_type <= 1 and chunk.clock_and_guard < 2 * DEDUPE_MS + 2 and chunk.chunk_ms > 0 and chunk.birth ~= 0
    and is_date(chunk.number) and is_date(chunk.created) and is_date(chunk.last) and chunk.last >= chunk.created
    and chunk.retention >= 1 and chunk.retention < 8.64e15
    and (chunk.complete == -math.huge or math.abs(chunk.complete) <= 8.64e15)
    and (chunk.latest == -math.huge or math.abs(chunk.latest) <= 8.64e15)
  if not is_sound then corrupt(chunk, "has an impossible header") end
  return chunk
end

-- Whether a window from `from` may need the chunk before. Twin: needsOlder.
local function needs_older(chunk, from)
  return chunk.birth_before ~= 0 and (chunk.clock == 1 and chunk.latest or chunk.created + EARLY_MS) >= from - DEDUPE_MS
end

-- The chunks that a window from `from` needs, newest first, and whether the one before them has expired.
local function chunks_from(open, from, now)
  local chunks, chunk, raw_created = { open }, open, open.created
  while needs_older(chunk, from) do
    if #chunks > MAX_OUTLINES then fail("TOO_LARGE", "the window has more than " .. MAX_OUTLINES .. " closed chunks") end
    local key = open.key .. ":" .. whole(chunk.number - 1)
    local head = command("GETRANGE", key, 0, CHUNK_BYTES + SEALED_BYTES - 1)
    if head == "" then
      -- It was closed when the next one was created. Before the journal is complete, its retention was shorter.
      local is_over = now > expiry_of(chunk.created, chunk.retention, chunk.chunk_ms) or (chunk.clock == 0 and from < open.complete)
      if not is_over then fail("LOST", "the key " .. key .. " is missing before it expires, or its slot is moving") end
      return chunks, true
    end
    local older = chunk_of(key, head)
    if older.is_sealed and #head < CHUNK_BYTES + SEALED_BYTES then corrupt(older, "is too short for a sealed chunk") end
    if older.birth ~= chunk.birth_before or older.number ~= chunk.number - 1 or older.value_type ~= open.value_type
      or older.clock ~= open.clock then
      corrupt(older, "does not fit to the chunk after it")
    end
    -- Copies of its last frames can stand in the next raw chunk.
    older.has_copies = older.is_sealed and older.last > raw_created - DEDUPE_MS
    if not older.is_sealed then raw_created = older.created end
    chunks[#chunks + 1], chunk = older, older
  end
  return chunks, false
end

-- Why the window may lack events; nil if it cannot. Twin: degradedOf.
local function degraded_by(open, oldest, is_missing, present, from, now)
  local is_of_events = open.clock == 1
  if from < present - open.retention or (not is_of_events and from < open.complete) then return "retention" end
  if is_missing then
    local is_lost
    if is_of_events then is_lost = oldest.latest >= from - DEDUPE_MS else is_lost = from < oldest.created + EARLY_MS end
    if is_lost then return "lost" end
  end
  -- Behind the last stamp by more than a clock may be.
  if now < open.last - 1000 then return "clock" end
end

-- The shortest text that reads as the same number.
local function text_of(number)
  if number ~= number then return "nan" end
  if number - number ~= 0 then return number > 0 and "inf" or "-inf" end
  for digits = 15, 16 do
    local text = string.format("%." .. digits .. "g", number)
    if tonumber(text) == number then return text end
  end
  return string.format("%.17g", number)
end

local function reply_of(tally, to, degraded)
  local numbers, nan = tally.count - tally.nan_count, 0 / 0
  local plus, minus = tally.positive_infinity_count, tally.negative_infinity_count
  local finite = numbers - plus - minus
  if tally.sum_high - tally.sum_high ~= 0 then fail("TOO_LARGE", "the sum of its events is above the largest f64") end
  local infinite = (plus > 0 and minus > 0 and nan) or (plus > 0 and math.huge) or (minus > 0 and -math.huge)
  local sum = infinite or tally.sum_high + tally.sum_low
  local mean = infinite or (finite > 0 and mean_of(tally.sum_high, tally.sum_low, finite) or nan)
  local min, max = numbers > 0 and tally.min or nan, numbers > 0 and tally.max or nan
  local reply = { "count", whole(numbers), "sum", text_of(sum), "mean", text_of(mean), "min", text_of(min), "max", text_of(max),
    "to", whole(to) }
  local function add(name, value)
    reply[#reply + 1], reply[#reply + 2] = name, value
  end
  if tally.nan_count > 0 then add("nan", whole(tally.nan_count)) end
  if degraded then add("degradedBy", degraded) end
  return reply
end

-- Adds the events inside the window, oldest chunk first, as copies are recognised by what comes before them.
local function add_chunks(tally, chunks, from, to)
  local counted, names, budget = {}, {}, { left = MOST_WORK }
  for i = #chunks, 1, -1 do
    local chunk = chunks[i]
    if chunk.is_sealed then add_sealed(tally, chunk, names, from, to, budget)
    else
      spend(budget, command("STRLEN", chunk.key))
      add_frames(tally, chunk, command("GET", chunk.key), counted, names, from, to)
    end
  end
end

local function window(keys, args)
  if #keys ~= 1 or #args < 1 or #args > 2 then fail("ARGUMENT", "it needs one key, the span in ms, and the end or nothing") end
  local key, now, tally = keys[1], math.floor(read_clock_us() / 1000), new_tally()
  local span, to = whole_number("the span", args[1], 1), args[2] and whole_number("the end", args[2], -9007199254740991)
  local head = command("GETRANGE", key, 0, CHUNK_BYTES)
  local open = head ~= "" and chunk_of(key, head)
  if not open or (#head == CHUNK_BYTES and open.birth_before == 0 and open.format == FORMAT) then return reply_of(tally, to or now) end
  if string.sub(key, -1 - #whole(open.number)) == ":" .. whole(open.number) then
    fail("ARGUMENT", "the key " .. key .. " is a closed chunk; it must be that of the series, without a number")
  end
  if open.is_sealed then corrupt(open, "is sealed, as no open chunk is") end
  if span > open.retention then fail("ARGUMENT", "the span is " .. whole(span) .. " ms; it must be at most the retention, " .. whole(open.retention) .. " ms") end
  local present = open.clock == 1 and open.latest or math.max(now, open.last)
  to = to or present
  local from = to - span
  local chunks, is_missing = chunks_from(open, from, now)
  add_chunks(tally, chunks, from, to)
  return reply_of(tally, to, degraded_by(open, chunks[#chunks], is_missing, present, from, now))
end

local function oriel_window(keys, args)
  local ok, reply = pcall(window, keys, args)
  if ok then return reply end
  if type(reply) ~= "table" then error(reply, 0) end
  return reply.code and redis.error_reply(reply.code .. " " .. reply.text) or reply.refused
end

if redis.register_function then
  redis.register_function{ function_name = "oriel_window", callback = oriel_window, flags = { "no-writes" } }
else
  return oriel_window(KEYS, ARGV)
end
