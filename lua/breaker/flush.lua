#!lua
-- Adds one process's report to a circuit, decides by the reports of all processes, and returns the circuit's state.
-- A script: the counts of all processes and the decision, by the server's clock, are one step.
-- KEYS  1 the circuit (breaker/state)
-- ARGV  1 RULE, as all names in capitals a record of layouts/breaker.mjs
--       2 process, 16 characters · REPORT · ENDED_PROBE for each ended probe
--       3 batch: CALLS for each ms with calls, oldest first
-- Reply REPLY. The granted probes are the first of those that were asked for.
-- Errors CORRUPT: the key has another value
-- Law   A batch counts once, and so does an ended probe. A probe asked for again, with its number, is another probe.
--       Command open starts a cooldown in every state. Command close changes nothing in a closed circuit.
-- Cost  O(records added + records that left + processes), in rare cases O(records of the window)
-- @include breaker/window
local keys_per_step = 1
local arguments_per_step = 3

local function open(s, cooldown, now)
  enter(s, STATE_OPEN, now)
  s.ends = now - s.base + cooldown
end

local function close(s, tick, now)
  enter(s, STATE_CLOSED, now)
  s.since = math.floor(now / tick) * tick - s.base
end

-- Ends probes. A probe that does not run changes nothing.
local function settle(s, request, id, count, now, tick, cooldown, max_probes)
  local first = ID_BYTES + REPORT_BYTES + 1
  for at = first, first + ENDED_PROBE_BYTES * count - 1, ENDED_PROBE_BYTES do
    local place = find_entry(s.probes, id .. string.sub(request, at, at + ENDED_PROBE_VERDICT_AT - 1))
    if place then
      local verdict = struct.unpack("<I4", request, at + ENDED_PROBE_VERDICT_AT)
      s.probes = string.sub(s.probes, 1, place - 1) .. string.sub(s.probes, place + ENTRY_BYTES)
      if verdict == VERDICT_FAILURE then open(s, cooldown, now)
      elseif verdict == VERDICT_SUCCESS then
        s.good = s.good + 1
      end
      if s.state == STATE_HALF_OPEN and s.good >= max_probes then close(s, tick, now) end
    end
  end
end

-- Stores a process's last batch. Without room, it drops processes that were silent for long, or else the longest silent one.
local function remember(s, id, entry, keep)
  local at = find_entry(s.processes, id)
  if at then
    s.processes = string.sub(s.processes, 1, at - 1) .. entry .. string.sub(s.processes, at + ENTRY_BYTES)
    return
  end
  local kept, oldest, place = {}, math.huge, 0
  for each = 1, #s.processes, ENTRY_BYTES do
    local came = struct.unpack("<d", s.processes, each + ENTRY_MS_AT)
    if came >= keep then
      kept[#kept + 1] = string.sub(s.processes, each, each + ENTRY_BYTES - 1)
      if came < oldest then oldest, place = came, #kept end
    end
  end
  if #kept >= MAX_PROCESSES then table.remove(kept, place) end
  kept[#kept + 1] = entry
  s.processes = table.concat(kept)
end

-- The ends of the first and of the last lease.
local function leases(s)
  local first, last = math.huge, -math.huge
  for at = 1, #s.probes, ENTRY_BYTES do
    local ends = struct.unpack("<d", s.probes, at + ENTRY_MS_AT)
    first, last = math.min(first, ends), math.max(last, ends)
  end
  return first, last
end

-- Number of probes that may start. At least 1 while none runs: successes may be those of a rule with more probes.
local function room_of(s, max_probes)
  local under_way = #s.probes / ENTRY_BYTES
  return math.max(max_probes - s.good, under_way == 0 and 1 or 0) - under_way
end

local function step(k, a, now)
  local key, request, batch = KEYS[k], ARGV[a + 1], ARGV[a + 2]
  local span, tick, minimum, failure_ratio, slow_ratio, max_failures, cooldown, max_probes, lease =
    struct.unpack(RULE, ARGV[a])
  local id = string.sub(request, 1, ID_BYTES)
  local sequence, first, wanted, command, settled = struct.unpack(REPORT, request, ID_BYTES + 1)
  local s = read_state(key, now)

  s.base = s.base - math.max(0, s.base + s.stamp - now)
  s.stamp = now - s.base
  local cutoff = math.floor(now / tick) * tick - span - s.base
  if s.state == STATE_CLOSED then evict(key, s, cutoff)
  elseif s.state == STATE_HALF_OPEN and leases(s) <= s.stamp then
    enter(s, STATE_OPEN, now)
    s.ends = s.stamp
  end
  if settled > 0 then settle(s, request, id, settled, now, tick, cooldown, max_probes) end
  if command == COMMAND_OPEN then open(s, cooldown, now)
  elseif command == COMMAND_CLOSE and s.state ~= STATE_CLOSED then close(s, tick, now) end

  local tail, from = "", s.size
  local known = find_entry(s.processes, id)
  if sequence > (known and struct.unpack("<I4", s.processes, known + ENTRY_NUMBER_AT) or 0) then
    remember(s, id, id .. struct.pack(ENTRY_REST, sequence, s.stamp), s.stamp - span - PROCESS_LIFE_MS)
    local records = s.state == STATE_CLOSED and records_of(s, batch, tick, cutoff, now) or {}
    if #records > 0 then
      if not s.is_cleared and s.front + s.dead < s.size then tail, from = tail_from(key, s, records[1].time) end
      tail = merge(tail, records)
      local failed_share, slow_share = s.failures / s.calls, s.slow / s.calls
      if s.failures >= max_failures or (s.calls >= minimum and (failed_share > failure_ratio or (failure_ratio == 1 and failed_share >= 1)
        or slow_share > slow_ratio or (slow_ratio == 1 and slow_share >= 1))) then
        open(s, cooldown, now)
        tail = ""
      end
    end
  end

  if wanted > 0 and s.state == STATE_OPEN and s.stamp >= s.ends then enter(s, STATE_HALF_OPEN, now) end
  local granted = 0
  if s.state == STATE_HALF_OPEN then
    granted = math.max(0, math.min(wanted, room_of(s, max_probes)))
    for i = 0, granted - 1 do s.probes = s.probes .. id .. struct.pack(ENTRY_REST, first + i, s.stamp + lease) end
  end

  local soonest, latest = leases(s)
  local wait, expire = 0, span + PROCESS_LIFE_MS
  if s.state == STATE_OPEN then wait = math.max(0, s.ends - s.stamp)
  elseif s.state == STATE_HALF_OPEN and room_of(s, max_probes) <= 0 then wait = soonest - s.stamp end
  if s.state ~= STATE_CLOSED then expire = math.max(0, s.ends - s.stamp, latest - s.stamp) + OPEN_LIFE_MS end
  write_state(key, s, tail, from)
  redis.call("PEXPIREAT", key, string.format("%.0f", now + expire))
  return struct.pack(REPLY, s.state, granted, s.epoch, wait, s.stamp - s.since, s.calls, s.failures, s.slow)
end
