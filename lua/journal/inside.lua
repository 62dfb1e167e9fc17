-- @include layouts/journal
-- Returns the values inside a window, in the order of the journal, and their number. Chunks are given oldest first.
-- The first frame of a (producer, sequence) within DEDUPE_MS of stamps counts. Values and times are unpacked in runs, because
-- a call from Lua costs more than the decoding. A chunk is
--   { key, bytes of frames, created, number }
local RUN = 64
local bound_text = 'the bound of statistics inside Redis: use a shorter span, or where: "client"'

local function too_many()
  error({ code = "TOO_LARGE", text = "the window has more than " .. MAX_SERVER_EVENTS
    .. " events, " .. bound_text })
end

local function corrupt(chunk, what, place)
  error({ code = "CORRUPT", text = string.format('the value of the key "%s" is damaged: chunk %.0f %s at byte %d',
    chunk.key, chunk.number, what, place - 1) })
end

-- The format "<fff..." for `count` values of a kind.
local formats = { f = {}, d = {}, ["I4"] = {} }
local function many(kind, count)
  local known = formats[kind][count]
  if not known then
    known = "<" .. string.rep(kind, count)
    formats[kind][count] = known
  end
  return known
end

-- Appends all of the `count` values at `at`.
local function take(values, n, bytes, at, count, kind, width)
  if n + count > MAX_SERVER_EVENTS then too_many() end
  for from = 0, count - 1, RUN do
    local some = math.min(RUN, count - from)
    local got = { struct.unpack(many(kind, some), bytes, at + from * width) }
    for i = 1, some do values[n + i] = got[i] end
    n = n + some
  end
  return n
end

-- Appends those of the `count` values whose own time, u32 ms after `base`, is from `least` to `most`.
local function take_dated(values, n, bytes, ticks_at, at, count, kind, width, min_tick, max_tick)
  for from = 0, count - 1, RUN do
    local some = math.min(RUN, count - from)
    local ticks = { struct.unpack(many("I4", some), bytes, ticks_at + 4 * from) }
    local got = { struct.unpack(many(kind, some), bytes, at + from * width) }
    for i = 1, some do
      local tick = ticks[i]
      if tick >= min_tick and tick <= max_tick then
        n = n + 1
        values[n] = got[i]
      end
    end
    if n > MAX_SERVER_EVENTS then too_many() end
  end
  return n
end

-- Called if the bytes from `place` on are shorter than a header and one value.
local function cut_short(chunk, bytes, place, plain, dated)
  local flags, count = struct.unpack(FRAME, bytes .. string.rep("\0", FRAME_BYTES), place)
  if place + FRAME_BYTES - 1 <= #bytes and (count == 0 or (flags ~= plain and flags ~= dated)) then
    corrupt(chunk, "has foreign bytes", place)
  end
  corrupt(chunk, "ends within a frame", place)
end

-- Events from `least` to `most`, ms, both included.
local function inside(chunks, value_type, min_tick, max_tick)
  local values, n, seen = {}, 0, {}
  local kind, width = value_type == 1 and "d" or "f", value_type == 1 and 8 or 4
  local plain, dated, unpack_one = 16 + value_type, 18 + value_type, struct.unpack
  -- Unpacks a frame's header and, without own times, its first value in one call.
  local layout, since_counted = FRAME .. kind, min_tick - DEDUPE_MS
  for i = 1, #chunks do
    local chunk = chunks[i]
    -- The chunk's header is kept, so that a place is one in the chunk.
    local bytes, created, place = redis.call("GET", chunk.key), chunk.created, CHUNK_BYTES + 1
    local size = #bytes
    local last = size - 15 - width
    while place <= size do
      if place > last then cut_short(chunk, bytes, place, plain, dated) end
      local flags, _, count, producer, sequence, since, first = unpack_one(layout, bytes, place)
      local at = place + FRAME_BYTES
      if flags == dated then
        at = at + 8 + 4 * count
        if value_type == 1 and count % 2 == 1 then at = at + 4 end
      elseif flags ~= plain then corrupt(chunk, "has foreign bytes", place) end
      if count == 0 then corrupt(chunk, "has foreign bytes", place) end
      local after = at + count * width
      if after > size + 1 then corrupt(chunk, "ends within a frame", place) end
      local stamp = created + since
      -- An older event without its own time is outside, and so is every copy of it.
      if stamp > since_counted or flags == dated then
        local of = seen[producer]
        if not of then
          -- Stamps by sequence, counted from the first one seen: most lie in a row, and so in a table's array.
          of = { before = sequence - 1 }
          seen[producer] = of
        end
        local index = sequence - of.before
        local counted = of[index]
        if not counted or stamp - counted >= DEDUPE_MS then
          of[index] = stamp
          if flags == dated then
            local base = unpack_one("<d", bytes, place + FRAME_BYTES)
            n = take_dated(values, n, bytes, place + 24, at, count, kind, width, min_tick - base, max_tick - base)
          elseif stamp >= min_tick and stamp <= max_tick then
            if count == 1 and n < MAX_SERVER_EVENTS then
              n = n + 1
              values[n] = first
            else n = take(values, n, bytes, at, count, kind, width) end
          end
        end
      end
      place = after
    end
  end
  return values, n
end
