-- Adds the events of a sealed chunk inside a window. A chunk wholly inside counts by its header, a block wholly inside by its totals. Only
-- the blocks that an edge of the window cuts are decoded.
-- @include journal/checksum
-- @include journal/decode-block

-- The statistics of a chunk, of the events at its edge, and the names of its last frames.
local function sealed_of(chunk)
  local sealed = {}
  sealed.checksum, sealed.record_checksum, sealed.count, sealed.block_count, sealed.totals_place, sealed.names_place, sealed.blocks_place,
    sealed.earliest, sealed.latest, sealed.min, sealed.max, sealed.sum_high, sealed.sum_low, sealed.nan_count,
    sealed.positive_infinity_count, sealed.negative_infinity_count =
    struct.unpack(SEALED, chunk.head, CHUNK_BYTES + 1)
  return sealed
end

local function check_record(chunk, sealed)
  local head = chunk.head
  local covered = string.sub(head, 1, CHUNK_BYTES + SEALED_CHECKSUM_AT) .. string.sub(head, CHUNK_BYTES + SEALED_COUNT_AT + 1)
  if checksum_of(covered) ~= sealed.record_checksum then corrupt(chunk, "has another checksum") end
end

-- Everything before the blocks, compared with its checksum.
local function prefix_of(chunk, sealed, budget)
  spend(budget, CHECKED_WORK * sealed.blocks_place)
  local prefix = command("GETRANGE", chunk.key, 0, sealed.blocks_place - 1)
  local checksum_at = CHUNK_BYTES + SEALED_CHECKSUM_AT
  if checksum_of(string.sub(prefix, 1, checksum_at) .. string.sub(prefix, checksum_at + 5)) ~= sealed.checksum then
    corrupt(chunk, "has another checksum")
  end
  return prefix
end

-- Adds the names of the last frames of a sealed chunk. A raw chunk after it may have copies of them.
local function add_names(names, chunk, sealed, prefix)
  for at = sealed.names_place + 1, sealed.blocks_place, SEALED_RANGE_BYTES do
    local producer, first, count, last_since_creation_ms = struct.unpack(SEALED_RANGE, prefix, at)
    local ranges = names[producer] or { last = 0 }
    names[producer] = ranges
    ranges[#ranges + 1] = { first = first, next = first + count, stamp = chunk.created + last_since_creation_ms }
    ranges.last = math.max(ranges.last, first + count - 1)
  end
end

local function add_edge_block(tally, chunk, head, body, checksum, earliest, from, to)
  if checksum_of(body) ~= checksum then corrupt(chunk, "has a damaged block") end
  local ok, times, values = pcall(decode_block, head .. body, earliest)
  if not ok or #times ~= #values then corrupt(chunk, "has a damaged block") end
  local n = 0
  for i = 1, #values do
    local time = times[i]
    if time > from and time <= to then
      n = n + 1
      values[n] = values[i]
    end
  end
  add_values(tally, values, n)
end

local function add_blocks(tally, chunk, sealed, prefix, from, to, budget)
  local head_at, place = CHUNK_BYTES + SEALED_BYTES, sealed.blocks_place
  local checksums_at = sealed.totals_place - 4 * sealed.block_count
  for i = 0, sealed.block_count - 1 do
    local part = {}
    part.count, part.head_bytes, part.body_bytes, part.order_bytes, part.times_bytes, part.nan_count, part.positive_infinity_count,
      part.negative_infinity_count = struct.unpack(BLOCK, prefix, head_at + 1)
    part.earliest_ms, part.latest_ms, part.min, part.max, part.sum_high, part.sum_low =
      struct.unpack(TOTALS, prefix, sealed.totals_place + TOTALS_BYTES * i + 1)
    local head_end, size = head_at + part.head_bytes, part.body_bytes + part.order_bytes + part.times_bytes
    if part.earliest_ms > from and part.latest_ms <= to then add_part(tally, part)
    elseif part.latest_ms > from and part.earliest_ms <= to then
      spend(budget, EVENT_WORK * part.count)
      local body = command("GETRANGE", chunk.key, place, place + size - 1)
      local checksum = struct.unpack("<I4", prefix, checksums_at + 4 * i + 1)
      add_edge_block(tally, chunk, string.sub(prefix, head_at + 1, head_end), body, checksum, part.earliest_ms, from, to)
    end
    head_at, place = head_end, place + size
  end
end

local function add_sealed(tally, chunk, names, from, to, budget)
  local sealed = sealed_of(chunk)
  spend(budget, CHECKED_WORK * #chunk.head)
  check_record(chunk, sealed)
  local is_inside = sealed.earliest > from and sealed.latest <= to
  local is_outside = sealed.latest <= from or sealed.earliest > to
  local is_edge = not is_inside and not is_outside
  if is_inside then add_part(tally, sealed) end
  if not is_edge and not chunk.has_copies then return end
  local prefix = prefix_of(chunk, sealed, budget)
  if is_edge then add_blocks(tally, chunk, sealed, prefix, from, to, budget) end
  if chunk.has_copies then add_names(names, chunk, sealed, prefix) end
end
