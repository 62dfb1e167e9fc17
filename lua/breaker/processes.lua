-- @include breaker/state
-- The processes of a circuit, each in its place, and the census of those that called lately. A process that knows its place is
-- found at once.

local function processes_of(key, s)
  s.processes = s.processes or (s.places > 0 and redis.call("GETRANGE", key, s.places_at, s.front - 1)) or ""
  return s.processes
end

-- The PROCESS at a place.
local function process_at(key, s, place)
  local at = PROCESS_BYTES * (place - 1)
  if s.processes then return string.sub(s.processes, at + 1, at + PROCESS_BYTES) end
  at = at + s.places_at
  if at + PROCESS_BYTES <= #s.text then return string.sub(s.text, at + 1, at + PROCESS_BYTES) end
  return redis.call("GETRANGE", key, at, at + PROCESS_BYTES - 1)
end

-- The place of a process. `hint` is where it was last; 0: unknown.
local function find_process(key, s, id, hint)
  if hint > 0 and hint <= s.places and string.sub(process_at(key, s, hint), 1, ID_BYTES) == id then return hint end
  local at = find_entry(processes_of(key, s), id, PROCESS_BYTES)
  return at and math.floor(at / PROCESS_BYTES) + 1
end

local function step_of(ms, span)
  return math.floor(ms * STEPS_PER_SPAN / span)
end

local function count_in(s, step, callers, seeing)
  local at = step % CENSUS_STEPS * CENSUS_BYTES
  local its_callers, its_seeing = struct.unpack(CENSUS, s.census, at + 1)
  s.census = string.sub(s.census, 1, at) .. struct.pack(CENSUS, its_callers + callers, its_seeing + seeing)
    .. string.sub(s.census, at + CENSUS_BYTES + 1)
  s.callers, s.seeing = s.callers + callers, s.seeing + seeing
end

-- Takes the processes out that have not called since the steps that are over.
local function pass_census(s, from, to)
  for step = math.max(from, to - CENSUS_STEPS) + 1, to do
    local callers, seeing = struct.unpack(CENSUS, s.census, step % CENSUS_STEPS * CENSUS_BYTES + 1)
    if callers + seeing > 0 then count_in(s, step, -callers, -seeing) end
  end
end

-- A place for a new process: that of one that was silent for long, a new one, or that of another one.
local function place_of_new(key, s, keep)
  local tried = math.min(PLACES_TRIED, s.places)
  for _ = 1, tried do
    local place = s.cursor % s.places + 1
    s.cursor = place
    if struct.unpack("<d", process_at(key, s, place), PROCESS_MS_AT + 1) < keep then return place end
  end
  if s.places < MAX_PROCESSES then return s.places + 1 end
  s.cursor = s.cursor % s.places + 1
  return s.cursor
end

-- Stores a process's last batch, and counts the process in the window of a closed circuit. Returns its place.
local function remember(key, s, place, id, sequence, sees, span)
  place = place or place_of_new(key, s, s.stamp - span - PROCESS_LIFE_MS)
  local mark, now = 0, step_of(s.stamp, span)
  if s.state == STATE_CLOSED then
    mark = s.epoch % EPOCH_MODULUS * 2 + sees
    if place <= s.places then
      local its_number, its_ms, its_mark = struct.unpack(PROCESS_REST, process_at(key, s, place), ID_BYTES + 1)
      local step = step_of(its_ms, span)
      if math.floor(its_mark / 2) == math.floor(mark / 2) and step > now - CENSUS_STEPS then
        count_in(s, step, -1, -(its_mark % 2))
      end
    end
    count_in(s, now, 1, sees)
  end
  s.places = math.max(s.places, place)
  s.place, s.entry = place, id .. struct.pack(PROCESS_REST, sequence, s.stamp, mark)
  return place
end
