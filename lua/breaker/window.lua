-- @include breaker/processes
-- The window of a closed circuit: its records.
local EVICTED_AT_ONCE, FIRST_TAIL = 64, 16
local COMPACT_BYTES = 4096

-- Subtracts the records that have left the window, each one once.
local function evict(key, s, cutoff)
  local from = s.front + s.dead
  if from >= s.size then return end
  if struct.unpack("<d", redis.call("GETRANGE", key, s.size - RECORD_BYTES, s.size - 1)) <= cutoff then
    s.calls, s.failures, s.slow, s.is_cleared = 0, 0, 0, true
    return
  end
  for place = from, s.size - 1, RECORD_BYTES * EVICTED_AT_ONCE do
    local text = redis.call("GETRANGE", key, place, place + RECORD_BYTES * EVICTED_AT_ONCE - 1)
    for at = 1, #text, RECORD_BYTES do
      local time, calls, failures, slow = struct.unpack(RECORD, text, at)
      if time > cutoff then return end
      s.calls, s.failures, s.slow = s.calls - calls, s.failures - failures, s.slow - slow
      s.dead = s.dead + RECORD_BYTES
    end
  end
  -- The last record is neither before nor after the cutoff: its time is NaN.
  error({ err = "ERR the breaker's value is damaged" })
end

-- Reads the last records, back to one that is not later than `time`. Returns them and their position in the key.
local function tail_from(key, s, time)
  local first, records = s.front + s.dead, FIRST_TAIL
  while true do
    local from = math.max(first, s.size - RECORD_BYTES * records)
    local text = redis.call("GETRANGE", key, from, s.size - 1)
    if from == first or struct.unpack("<d", text) <= time then return text, from end
    records = records * 8
  end
end

-- Position in `tail`, from `low`, of the first record that is not before `time`. Usually it is `low`.
local function place_of(tail, low, time)
  local high = #tail + 1
  if low < high and struct.unpack("<d", tail, low) >= time then high = low end
  while low < high do
    local middle = low + RECORD_BYTES * math.floor((high - low) / RECORD_BYTES / 2)
    if struct.unpack("<d", tail, middle) < time then low = middle + RECORD_BYTES else high = middle end
  end
  return low
end

-- Merges new records into the tail, in order of their times.
local function merge(tail, records)
  local parts, at = {}, 1
  for i = 1, #records do
    local record = records[i]
    local time, calls, failures, slow = record.time, record.calls, record.failures, record.slow
    local place = place_of(tail, at, time)
    if place > at then parts[#parts + 1] = string.sub(tail, at, place - 1) end
    at = place
    if place <= #tail then
      local its_time, its_calls, its_failures, its_slow = struct.unpack(RECORD, tail, place)
      if its_time == time then
        calls, failures, slow = calls + its_calls, failures + its_failures, slow + its_slow
        at = place + RECORD_BYTES
      end
    end
    parts[#parts + 1] = struct.pack(RECORD, time, calls, failures, slow)
  end
  parts[#parts + 1] = string.sub(tail, at)
  return table.concat(parts)
end

-- Adds a batch to the totals and returns its records in the window, one for each tick.
local function records_of(s, batch, tick, cutoff, now)
  local records, last = {}, nil
  for at = 1, #batch, CALLS_BYTES do
    local age, calls, failures, slow = struct.unpack(CALLS, batch, at)
    local time = math.floor((now - age) / tick) * tick - s.base
    if time > cutoff and time >= s.since then
      s.calls, s.failures, s.slow = s.calls + calls, s.failures + failures, s.slow + slow
      if last and last.time == time then
        last.calls, last.failures, last.slow = last.calls + calls, last.failures + failures, last.slow + slow
      else
        last = { time = time, calls = calls, failures = failures, slow = slow }
        records[#records + 1] = last
      end
    end
  end
  return records
end

-- Writes the state, and `tail` at the byte `from`, unless the window was cleared.
local function write_state(key, s, tail, from)
  if s.is_cleared or #front_of(s) + PROCESS_BYTES * s.places ~= s.front or (s.dead > COMPACT_BYTES and s.dead * 2 > s.size) then
    local first = s.front + s.dead
    local live = not s.is_cleared and from > first and redis.call("GETRANGE", key, first, from - 1) or ""
    local all = processes_of(key, s)
    if s.entry then
      all = string.sub(all, 1, PROCESS_BYTES * (s.place - 1)) .. s.entry .. string.sub(all, PROCESS_BYTES * s.place + 1)
    end
    s.dead = 0
    redis.call("SET", key, front_of(s) .. all .. live .. tail)
    return
  end
  if tail ~= "" then redis.call("SETRANGE", key, from, tail) end
  redis.call("SETRANGE", key, 0, front_of(s))
  if s.entry then redis.call("SETRANGE", key, s.places_at + PROCESS_BYTES * (s.place - 1), s.entry) end
end
