-- @include layouts/breaker
-- A circuit is one string (layouts/breaker.mjs):
--   CIRCUIT | CENSUS for each step of a span | ENTRY for each running probe | id of each process that probes last
--   | PROCESS for each place | RECORD for each tick with calls, oldest first
-- In format 2 the head ends with `seeing`, and there is no list of ids. The first write makes format 3 of it.
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
      census = string.rep("\0", CENSUS_BYTES * CENSUS_STEPS), front = 0, size = 0, probes = "", places = 0, processes = "",
      failed = 0, former = 0, last = "" }
  end
  local format, head, head_bytes, lasts = string.byte(text), text, CIRCUIT_BYTES, nil
  if format == OLD_FORMAT then
    head, head_bytes = string.sub(text, 1, OLD_CIRCUIT_BYTES) .. string.rep("\0", CIRCUIT_BYTES), OLD_CIRCUIT_BYTES
  end
  local bytes = head_bytes + CENSUS_BYTES * CENSUS_STEPS
  if #text < bytes or (format ~= FORMAT and format ~= OLD_FORMAT) then
    error({ err = "ERR the value is no breaker of format " .. FORMAT })
  end
  local s, probes = {}, nil
  s.format, s.state, probes, s.places, s.base, s.stamp, s.epoch, s.ends, s.since, s.calls, s.failures, s.slow, s.good,
    s.dead, s.cause, s.cursor, s.grown, s.held, s.callers, s.seeing, s.failed, lasts,
    s.former = struct.unpack(CIRCUIT, head)
  s.census = string.sub(text, head_bytes + 1, bytes)
  local lasts_at = bytes + ENTRY_BYTES * probes
  s.places_at = lasts_at + ID_BYTES * lasts
  s.front = s.places_at + PROCESS_BYTES * s.places
  s.size = redis.call("STRLEN", key)
  local records = s.size - s.front
  if s.state > STATE_HALF_OPEN or records < 0 or records % RECORD_BYTES > 0 or s.dead > records or s.dead % RECORD_BYTES > 0
    or not are_times(s.base, s.stamp, s.epoch, s.ends, s.calls, s.failures, s.slow, s.grown, s.held) then
    error({ err = "ERR the breaker's value is damaged" })
  end
  if s.places_at > #text then text = redis.call("GETRANGE", key, 0, s.places_at - 1) end
  s.text = text
  s.probes, s.last = string.sub(text, bytes + 1, lasts_at), string.sub(text, lasts_at + 1, s.places_at)
  return s
end

local function front_of(s)
  return struct.pack(CIRCUIT, FORMAT, s.state, #s.probes / ENTRY_BYTES, s.places, s.base, s.stamp, s.epoch,
    s.ends, s.since, s.calls, s.failures, s.slow, s.good, s.dead, s.cause, s.cursor, s.grown, s.held, s.callers, s.seeing, s.failed,
    #s.last / ID_BYTES, s.former) .. s.census .. s.probes .. s.last
end

-- Each state change begins an empty window. The counts that opened the circuit stay until it closes.
local function enter(s, state, now)
  s.state, s.epoch, s.good, s.failed, s.probes, s.is_cleared = state, math.max(s.epoch + 1, now), 0, 0, "", true
  if state == STATE_CLOSED then
    s.former = s.callers
    s.calls, s.failures, s.slow, s.grown, s.callers, s.seeing, s.last = 0, 0, 0, 0, 0, 0, ""
    s.census = string.rep("\0", CENSUS_BYTES * CENSUS_STEPS)
  end
end

-- Position of an entry in a list of entries of `bytes`.
local function find_entry(list, name, bytes)
  local at = string.find(list, name, 1, true)
  while at and (at - 1) % bytes ~= 0 do at = string.find(list, name, at + 1, true) end
  return at
end
