-- @include breaker/constants
-- A circuit is one string, little-endian. All times except base and epoch are ms after base. When the clock steps back,
-- base is set back, and all times with it.
--    0 u8 format · u8 state: 0 closed, 1 open, 2 half-open · u16 running probes · u32 processes
--    8 f64 base, server ms · 16 f64 time of the last step · 24 f64 epoch, grows with each change of state
--   32 f64 open until · 40 f64 the window begins · 48 f64 calls · 56 f64 failures · 64 f64 slow calls, in the
--      window of a closed circuit; else in the one that opened it
--   72 u32 successful probes · 76 u32 bytes of records that have left the window
--   80 28 bytes for each probe: process, 16 characters · u32 its number · f64 end of its lease
--      28 bytes for each process: 16 characters · u32 its last batch · f64 when it came
--      20 bytes for each record, oldest first: f64 the ms · u32 calls · u32 failures · u32 slow calls
local CLOSED, OPEN, HALF_OPEN = 0, 1, 2
local HEAD, HEAD_BYTES, ENTRY_BYTES, ID_BYTES, RECORD_BYTES = "<BBI2I4ddddddddI4I4", 80, 28, 16, 20
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
    return { state = CLOSED, base = now, stamp = 0, epoch = now, ends = 0, since = -math.huge, calls = 0, failures = 0,
      slow = 0, good = 0, dead = 0, front = 0, size = 0, probes = "", processes = "" }
  end
  local s, format, probes, processes = {}, nil, nil, nil
  if #text >= HEAD_BYTES then
    format, s.state, probes, processes, s.base, s.stamp, s.epoch, s.ends, s.since, s.calls, s.failures, s.slow, s.good,
      s.dead = struct.unpack(HEAD, text)
  end
  if format ~= FORMAT then error({ err = "ERR the value is no breaker of format " .. FORMAT }) end
  s.front = HEAD_BYTES + ENTRY_BYTES * (probes + processes)
  s.size = redis.call("STRLEN", key)
  local records = s.size - s.front
  if s.state > HALF_OPEN or records < 0 or records % RECORD_BYTES > 0 or s.dead > records or s.dead % RECORD_BYTES > 0
    or not are_times(s.base, s.stamp, s.epoch, s.ends, s.calls, s.failures, s.slow) then
    error({ err = "ERR the breaker's value is damaged" })
  end
  if s.front > #text then text = redis.call("GETRANGE", key, 0, s.front - 1) end
  s.probes = string.sub(text, HEAD_BYTES + 1, HEAD_BYTES + ENTRY_BYTES * probes)
  s.processes = string.sub(text, HEAD_BYTES + ENTRY_BYTES * probes + 1, s.front)
  return s
end

local function front_of(s)
  return struct.pack(HEAD, FORMAT, s.state, #s.probes / ENTRY_BYTES, #s.processes / ENTRY_BYTES, s.base, s.stamp, s.epoch,
    s.ends, s.since, s.calls, s.failures, s.slow, s.good, s.dead) .. s.probes .. s.processes
end

-- Each state change begins an empty window. The counts that opened the circuit stay until it closes.
local function enter(s, state, now)
  s.state, s.epoch, s.good, s.probes, s.is_cleared = state, math.max(s.epoch + 1, now), 0, "", true
  if state == CLOSED then s.calls, s.failures, s.slow = 0, 0, 0 end
end

-- Position of a process or probe in a list of entries.
local function find_entry(list, name)
  local at = string.find(list, name, 1, true)
  while at and (at - 1) % ENTRY_BYTES ~= 0 do at = string.find(list, name, at + 1, true) end
  return at
end
