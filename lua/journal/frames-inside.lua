-- Adds the events of a raw chunk inside a window, as a reader of the journal counts them: the first frame of each (producer, sequence)
-- within DEDUPE_MS of stamps. Chunks are passed oldest first. Values are unpacked in runs, because a call costs more than a number.
-- `counted`: the stamps of frames by producer and sequence. `names`: ranges of the frames of sealed chunks, by producer.
local RUN = 256

local function is_in_sealed(ranges, sequence, stamp)
  if not ranges or sequence > ranges.last then return false end
  for i = 1, #ranges do
    local range = ranges[i]
    if sequence >= range.first and sequence < range.next and stamp - range.stamp < DEDUPE_MS then return true end
  end
  return false
end

-- The `count` numbers at `at`.
local function numbers_of(bytes, at, count, kind)
  return { struct.unpack("<" .. string.rep(kind, count), bytes, at) }
end

-- Adds the values of one frame that are inside. `base`: of a frame with own times, which has at `ticks_at` the ms of each value after the
-- base. nil: the frame has one time for all values.
local function add_frame(tally, bytes, at, count, kind, width, base, ticks_at, from, to)
  for start = 0, count - 1, RUN do
    local some = math.min(RUN, count - start)
    local values, n = numbers_of(bytes, at + start * width, some, kind), some
    if base then
      local ticks = numbers_of(bytes, ticks_at + 4 * start, some, "I4")
      n = 0
      for i = 1, some do
        local time = base + ticks[i]
        if time > from and time <= to then
          n = n + 1
          values[n] = values[i]
        end
      end
    end
    add_values(tally, values, n)
  end
end

local function add_frames(tally, chunk, bytes, counted, names, from, to)
  local value_type, created = chunk.value_type, chunk.created
  local kind, width = value_type == 1 and "d" or "f", value_type == 1 and 8 or 4
  local plain, dated, unpack_one, size = 16 + value_type, 18 + value_type, struct.unpack, #bytes
  local place, alone, lone = CHUNK_BYTES + 1, {}, 0
  local frame_of_one = FRAME .. kind
  while place <= size do
    if place + FRAME_BYTES + width - 1 > size then corrupt(chunk, "ends within a frame") end
    local flags, _, count, producer, sequence, since, first = unpack_one(frame_of_one, bytes, place)
    local is_dated, at = flags == dated, place + FRAME_BYTES
    local values_at = at
    if is_dated then
      values_at = at + 8 + 4 * count
      if value_type == 1 and count % 2 == 1 then values_at = values_at + 4 end
    end
    if count == 0 or not (is_dated or flags == plain) then corrupt(chunk, "has foreign bytes") end
    local stamp, next = created + since, values_at + count * width
    if next > size + 1 then corrupt(chunk, "ends within a frame") end
    -- An event without its own time that is this old is outside, and so is every copy of it. Copies of later ones are later still.
    if is_dated or (stamp > from - DEDUPE_MS and stamp <= to) then
      local of = counted[producer]
      if not of then
        -- By the distance from the first sequence seen: most follow it, and so lie in a table's array.
        of = { before = sequence - 1 }
        counted[producer] = of
      end
      local index = sequence - of.before
      local earlier = of[index]
      if not (earlier and stamp - earlier < DEDUPE_MS) and not is_in_sealed(names[producer], sequence, stamp) then
        of[index] = stamp
        if is_dated then add_frame(tally, bytes, values_at, count, kind, width, unpack_one("<d", bytes, at), at + 8, from, to)
        elseif stamp > from then
          if count == 1 then
            lone = lone + 1
            alone[lone] = first
          else add_frame(tally, bytes, at, count, kind, width, nil, nil, from, to) end
        end
      end
    end
    place = next
  end
  add_values(tally, alone, lone)
end
