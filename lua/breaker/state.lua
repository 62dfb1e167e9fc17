-- @include layouts/breaker
-- A circuit is one string (layouts/breaker.mjs):
--   CIRCUIT | CENSUS for each step of a span | ENTRY for each running probe | PROCESS for each place | RECORD for each tick with calls, oldest first
-- In format 1 the head ends with `dead`, there is no census, and a process is an ENTRY. The first write makes format 2 of it.
local FIRST_READ_BYTES = 2048

-- Whether all are possible times and counts.
local function are_times(...)
  for i = 1, select("#", ...) do
    if not (math.abs((select(i, ...))) <= 9007199254740992) then return false end
  end
  return true
end

-- Reads the state. `front` is the number of bytes before the records, `places_at` that before the processes, `size` all.
local function read_state(key, now)
  local text = redis.call("GETRANGE", key, 0, FIRST_READ_BYTES - 1)
  if text == "" then
    return { state = STATE_CLOSED, base = now, stamp = 0, epoch = now, ends = 0, since = -math.huge, calls = 0, failures = 0,
      slow = 0, good = 0, dead = 0, cause = 0, cursor = 0, grown = 0, held = 0, callers = 0, seeing = 0,
      census = string.rep("\0", CENSUS_BYTES * CENSUS_STEPS), front = 0, size = 0, probes = "", places = 0, processes = "" }
  end
  local format, head, bytes, each = string.byte(text), text, CIRCUIT_BYTES + CENSUS_BYTES * CENSUS_STEPS, PROCESS_BYTES
  if format == OLD_FORMAT then
    head = string.sub(text, 1, OLD_CIRCUIT_BYTES) .. string.rep("\0", bytes - OLD_CIRCUIT_BYTES)
    bytes, each = OLD_CIRCUIT_BYTES, ENTRY_BYTES
  end
  if #text < bytes or (format ~= FORMAT and format ~= OLD_FORMAT) then
    error({ err = "ERR the value is no breaker of format " .. FORMAT })
  end
  local s, probes = {}, nil
  s.format, s.state, probes, s.places, s.base, s.stamp, s.epoch, s.ends, s.since, s.calls, s.failures, s.slow, s.good,
    s.dead, s.cause, s.cursor, s.grown, s.held, s.callers, s.seeing = struct.unpack(CIRCUIT, head)
  s.census = string.sub(head, CIRCUIT_BYTES + 1, CIRCUIT_BYTES + CENSUS_BYTES * CENSUS_STEPS)
  s.places_at = bytes + ENTRY_BYTES * probes
  s.front = s.places_at + each * s.places
  s.size = redis.call("STRLEN", key)
  local records = s.size - s.front
  if s.state > STATE_HALF_OPEN or records < 0 or records % RECORD_BYTES > 0 or s.dead > records or s.dead % RECORD_BYTES > 0
    or not are_times(s.base, s.stamp, s.epoch, s.ends, s.calls, s.failures, s.slow, s.grown, s.held) then
    error({ err = "ERR the breaker's value is damaged" })
  end
  if s.places_at > #text then text = redis.call("GETRANGE", key, 0, s.places_at - 1) end
  s.text = text
  s.probes = string.sub(text, bytes + 1, s.places_at)
  if format == OLD_FORMAT then
    local old = redis.call("GETRANGE", key, s.places_at, s.front - 1)
    local new = {}
    for at = 1, ENTRY_BYTES * s.places, ENTRY_BYTES do
      new[#new + 1] = string.sub(old, at, at + ENTRY_BYTES - 1) .. "\0\0\0\0"
    end
    s.processes = table.concat(new)
  end
  return s
end

local function front_of(s)
  return struct.pack(CIRCUIT, FORMAT, s.state, #s.probes / ENTRY_BYTES, s.places, s.base, s.stamp, s.epoch,
    s.ends, s.since, s.calls, s.failures, s.slow, s.good, s.dead, s.cause, s.cursor, s.grown, s.held, s.callers, s.seeing)
    .. s.census .. s.probes
end

-- Each state change begins an empty window. The counts that opened the circuit stay until it closes.
local function enter(s, state, now)
  s.state, s.epoch, s.good, s.probes, s.is_cleared = state, math.max(s.epoch + 1, now), 0, "", true
  if state == STATE_CLOSED then
    s.calls, s.failures, s.slow, s.grown, s.callers, s.seeing = 0, 0, 0, 0, 0, 0
    s.census = string.rep("\0", CENSUS_BYTES * CENSUS_STEPS)
  end
end

-- Position of an entry in a list of entries of `bytes`.
local function find_entry(list, name, bytes)
  local at = string.find(list, name, 1, true)
  while at and (at - 1) % bytes ~= 0 do at = string.find(list, name, at + 1, true) end
  return at
end
