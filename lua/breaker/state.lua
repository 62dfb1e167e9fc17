-- @include layouts/breaker
-- A circuit is one string (layouts/breaker.mjs):
--   CIRCUIT | ENTRY for each running probe | ENTRY for each process | RECORD for each tick with calls, oldest first
local FIRST_READ_BYTES = 2048

-- Whether all are possible times and counts.
local function are_times(...)
  for i = 1, select("#", ...) do
    if not (math.abs((select(i, ...))) <= 9007199254740992) then return false end
  end
  return true
end

-- Reads the state. `front` is the number of bytes before the records, `size` that of the whole string.
local function read_state(key, now)
  local text = redis.call("GETRANGE", key, 0, FIRST_READ_BYTES - 1)
  if text == "" then
    return { state = STATE_CLOSED, base = now, stamp = 0, epoch = now, ends = 0, since = -math.huge, calls = 0, failures = 0,
      slow = 0, good = 0, dead = 0, front = 0, size = 0, probes = "", processes = "" }
  end
  local s, format, probes, processes = {}, nil, nil, nil
  if #text >= CIRCUIT_BYTES then
    format, s.state, probes, processes, s.base, s.stamp, s.epoch, s.ends, s.since, s.calls, s.failures, s.slow, s.good,
      s.dead = struct.unpack(CIRCUIT, text)
  end
  if format ~= FORMAT then error({ err = "ERR the value is no breaker of format " .. FORMAT }) end
  s.front = CIRCUIT_BYTES + ENTRY_BYTES * (probes + processes)
  s.size = redis.call("STRLEN", key)
  local records = s.size - s.front
  if s.state > STATE_HALF_OPEN or records < 0 or records % RECORD_BYTES > 0 or s.dead > records or s.dead % RECORD_BYTES > 0
    or not are_times(s.base, s.stamp, s.epoch, s.ends, s.calls, s.failures, s.slow) then
    error({ err = "ERR the breaker's value is damaged" })
  end
  if s.front > #text then text = redis.call("GETRANGE", key, 0, s.front - 1) end
  s.probes = string.sub(text, CIRCUIT_BYTES + 1, CIRCUIT_BYTES + ENTRY_BYTES * probes)
  s.processes = string.sub(text, CIRCUIT_BYTES + ENTRY_BYTES * probes + 1, s.front)
  return s
end

local function front_of(s)
  return struct.pack(CIRCUIT, FORMAT, s.state, #s.probes / ENTRY_BYTES, #s.processes / ENTRY_BYTES, s.base, s.stamp, s.epoch,
    s.ends, s.since, s.calls, s.failures, s.slow, s.good, s.dead) .. s.probes .. s.processes
end

-- Each state change begins an empty window. The counts that opened the circuit stay until it closes.
local function enter(s, state, now)
  s.state, s.epoch, s.good, s.probes, s.is_cleared = state, math.max(s.epoch + 1, now), 0, "", true
  if state == STATE_CLOSED then s.calls, s.failures, s.slow = 0, 0, 0 end
end

-- Position of a process or probe in a list of entries.
local function find_entry(list, name)
  local at = string.find(list, name, 1, true)
  while at and (at - 1) % ENTRY_BYTES ~= 0 do at = string.find(list, name, at + 1, true) end
  return at
end
