-- @include layouts/block
-- Decodes one block of a sealed chunk (src/engine/kernel/blocks/README.md describes its bytes). All places count from 1. Bytes that end too
-- early are an error of Lua, because there is no number to compute with.
-- Cost: 1 to 2 us an event

local function bits_of(number)
  local width = 0
  while number >= 2 ^ width do width = width + 1 end
  return width
end

-- `count` numbers of `width` bits from byte `at` on, lowest bit first. Returns them, the next byte, and bits of the last one that are left.
local function numbers_at(data, at, count, width)
  local found, rest, bits, top = {}, 0, 0, 2 ^ width
  for i = 1, count do
    while bits < width do
      rest = rest + string.byte(data, at) * 2 ^ bits
      bits, at = bits + 8, at + 1
    end
    local number = rest % top
    found[i] = number
    rest, bits = (rest - number) / top, bits - width
  end
  return found, at, rest, bits
end

-- Elias-Fano: appends to `found` the number `first`, and `count` numbers after it of at most `first + span`. Returns the next byte.
local function ascending_at(data, at, found, first, span, count)
  local n = #found + 1
  found[n] = first
  if count == 0 or span == 0 then
    for i = 1, count do found[n + i] = first end
    return at
  end
  local low = 0
  while math.floor(span / 2 ^ low) > count + 2 do low = low + 1 end
  local scale, high = 2 ^ low, 0
  local lows, place, rest, bits = numbers_at(data, at, count, low)
  for i = 1, count do
    local one
    repeat
      if bits == 0 then rest, bits, place = string.byte(data, place), 8, place + 1 end
      one = rest % 2
      rest, bits, high = (rest - one) / 2, bits - 1, high + 1 - one
    until one == 1
    found[n + i] = first + high * scale + lows[i]
  end
  return at + math.ceil((count * low + count + math.floor(span / scale)) / 8)
end

-- The samples of a ladder of `count` numbers up to `top`, and `top`.
local function samples_at(data, at, count, top)
  local samples = {}
  local next = ascending_at(data, at, samples, 0, top, math.floor((count - 1) / GROUP))
  samples[#samples + 1] = top
  return samples, next
end

-- The numbers of the groups of a ladder, and their low parts of `shift` bits.
local function groups_at(data, at, samples, count, shift)
  local highs, lows = {}, {}
  for i = 1, #samples - 1 do
    local some = math.min(GROUP, count - #highs)
    at = ascending_at(data, at, highs, samples[i], samples[i + 1] - samples[i], some - 1)
    if shift > 0 then
      local part, next = numbers_at(data, at, some, shift)
      for j = 1, some do lows[#lows + 1] = part[j] end
      at = next
    end
  end
  return highs, lows, at
end

-- The value of an offset of `high * 2^shift + low` from the base.
local function value_maker(head)
  if head.form == FORM_DECIMAL then
    local power, base = 10 ^ head.decimals, struct.unpack("<d", head.key)
    return function(high, low)
      local integer = base + high * 2 ^ head.shift + low
      if head.value_type == 1 then return integer / power end
      return (struct.unpack("<f", struct.pack("<f", integer * (1 / power))))
    end
  end
  local base_low, base_high, pair = head.key_low, head.key_high, "<" .. string.rep("I4", 2)
  return function(high, low)
    local offset = high * 2 ^ head.shift
    local low_half = base_low + offset % 4294967296 + low
    if head.value_type == 0 then
      local bits = low_half % 4294967296
      return (struct.unpack("<f", struct.pack("<I4", bits >= 2147483648 and bits - 2147483648 or 4294967295 - bits)))
    end
    local high_half = (base_high + math.floor(offset / 4294967296) + math.floor(low_half / 4294967296)) % 4294967296
    low_half = low_half % 4294967296
    if high_half >= 2147483648 then high_half = high_half - 2147483648
    else low_half, high_half = 4294967295 - low_half, 4294967295 - high_half end
    return (struct.unpack("<d", struct.pack(pair, low_half, high_half)))
  end
end

-- The values in ascending order, and the places where another one begins.
local function ordered_values(head, data, kind, width)
  local ordered, starts, count = {}, {}, head.count - head.exceptions
  local samples = samples_at(data, BLOCK_BYTES + 1, count, head.top)
  local highs, lows = groups_at(data, head.head_bytes + 1, samples, count, head.shift)
  local value_of = value_maker(head)
  for i = 1, count do
    local is_same = i > 1 and highs[i] == highs[i - 1] and lows[i] == lows[i - 1]
    if not is_same then starts[#starts + 1] = i end
    ordered[i] = is_same and ordered[i - 1] or value_of(highs[i], lows[i] or 0)
  end
  local before
  for at = head.head_bytes + 1 - head.exceptions * width, head.head_bytes, width do
    local bits = string.sub(data, at, at + width - 1)
    ordered[#ordered + 1] = struct.unpack(kind, bits)
    if bits ~= before then starts[#starts + 1] = #ordered end
    before = bits
  end
  return ordered, starts
end

-- The values in the order of arrival.
local function values_of(head, data, kind, width)
  local order, count = head.order, head.count
  if head.form == FORM_RAW then
    local values = {}
    for i = 1, count do values[i] = struct.unpack(kind, data, head.head_bytes + 1 + (i - 1) * width) end
    return values
  end
  local ordered, starts = ordered_values(head, data, kind, width)
  if order == ORDER_NONE then return ordered end
  local at = head.head_bytes + head.body_bytes + 1
  if order == ORDER_PERMUTATION then
    for start = 1, count, GROUP do
      local codes, next = numbers_at(data, at, math.min(GROUP, count + 1 - start), bits_of(count - start))
      for i = 1, #codes do
        local one, other = start + i - 1, start + i - 1 + codes[i]
        ordered[one], ordered[other] = ordered[other], ordered[one]
      end
      at = next
    end
    return ordered
  end
  local index_bits, values = bits_of(head.distinct - 1), {}
  if order == ORDER_INDEX then
    local indexes = numbers_at(data, at, count, index_bits)
    for i = 1, count do values[i] = ordered[starts[indexes[i] + 1]] end
    return values
  end
  local common, others, first, last = struct.unpack(SPARSE, data, at)
  local samples, groups = samples_at(data, at + SPARSE_BYTES, others, last - first)
  local places, _, next = groups_at(data, groups, samples, others, 0)
  local indexes = numbers_at(data, next, others, index_bits)
  for i = 1, count do values[i] = ordered[starts[common + 1]] end
  for i = 1, others do values[first + places[i] + 1] = ordered[starts[indexes[i] + 1]] end
  return values
end

local function times_of(head, data, earliest)
  local times, count, is_runs = {}, head.count, head.timing == TIMING_RUNS
  local at = head.head_bytes + head.body_bytes + head.order_bytes + 1
  if head.timing == TIMING_RAW then
    for i = 1, count do times[i] = struct.unpack("<d", data, at + 8 * (i - 1)) end
    return times
  end
  local lines, line_at = is_runs and head.runs or count, is_runs and at + RUNS_BYTES or at
  local slope, top, first = struct.unpack(TIMES, data, line_at)
  if slope >= 2147483648 then slope = slope - 4294967296 end
  local samples, groups = samples_at(data, line_at + TIMES_BYTES, lines, top)
  local numbers, _, next = groups_at(data, groups, samples, lines, 0)
  local shortest, width, lengths = 1, 0, {}
  if is_runs then
    shortest, width = struct.unpack(RUNS, data, at)
    lengths = numbers_at(data, next, lines, width)
  end
  for i = 1, lines do
    local time = earliest + (first + slope * (i - 1) + numbers[i])
    for _ = 1, shortest + (lengths[i] or 0) do times[#times + 1] = time end
  end
  return times
end

-- Times and values of a block in the order of arrival. `data`: head, body, order and times.
local function decode_block(data, earliest)
  local head = {}
  head.form, head.value_type, head.order, head.timing, head.decimals, head.shift, head.count, head.distinct, head.runs, head.exceptions,
    head.head_bytes, head.body_bytes, head.order_bytes, head.top, head.key_low, head.key_high = struct.unpack(BLOCK, data)
  head.key = string.sub(data, BLOCK_KEY_LOW_AT + 1, BLOCK_BYTES)
  local is_wide = head.value_type == 1
  return times_of(head, data, earliest), values_of(head, data, is_wide and "<d" or "<f", is_wide and 8 or 4)
end
