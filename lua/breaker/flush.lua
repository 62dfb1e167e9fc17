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
--       With a quorum, the share of the processes that see failures decides, of those that called lately. A process has one voice.
--       So it is with the probes, of which one of a process counts. After a failed one the processes take turns (breaker/turns).
--       Command open starts a cooldown in every state. Command close changes nothing in a closed circuit, and reset does.
-- Cost  O(records added + records that left), in rare cases O(records of the window + processes). A process that does not know
--       its place is searched for: O(processes).
-- @include breaker/window
-- @include breaker/turns
local keys_per_step = 1
local arguments_per_step = 3

-- Opens for a cooldown, which a failed probe makes longer. Jitter makes it shorter, by a fraction that differs for each opening.
local function open(s, r, cause, now)
  enter(s, STATE_OPEN, now)
  s.cause = cause
  if cause ~= CAUSE_PROBE then s.last = "" end
  s.grown = cause == CAUSE_PROBE and s.grown > 0 and math.floor(math.min(r.longest, s.grown * r.factor)) or r.cooldown
  s.ends = s.stamp + math.max(1, math.floor(s.grown * (1 - r.jitter * (s.epoch * GOLDEN % 1))))
end

local function close(s, r, now)
  enter(s, STATE_CLOSED, now)
  s.since = math.floor(now / r.tick) * r.tick - s.base
end

-- Ends probes. A probe that does not run changes nothing.
local function settle(s, r, request, id, count, now)
  local first = ID_BYTES + REPORT_BYTES + 1
  for at = first, first + ENDED_PROBE_BYTES * count - 1, ENDED_PROBE_BYTES do
    local place = find_entry(s.probes, id .. string.sub(request, at, at + ENDED_PROBE_VERDICT_AT - 1), ENTRY_BYTES)
    if place then
      local verdict = struct.unpack("<I4", request, at + ENDED_PROBE_VERDICT_AT)
      s.probes = string.sub(s.probes, 1, place - 1) .. string.sub(s.probes, place + ENTRY_BYTES)
      if verdict == VERDICT_SUCCESS then s.good = s.good + 1
      elseif verdict == VERDICT_FAILURE and fails(s, r, id) then open(s, r, CAUSE_PROBE, now) end
      if s.state == STATE_HALF_OPEN and s.good + s.failed >= r.max_probes then close(s, r, now) end
    end
  end
end

-- Gives up the probes whose leases are over. If the circuit opens, a call may probe at once, and no cooldown becomes longer.
local function lapse(s, r, now)
  local at = 1
  while at <= #s.probes do
    if struct.unpack("<d", s.probes, at + ENTRY_MS_AT) > s.stamp then at = at + ENTRY_BYTES
    else
      local id = string.sub(s.probes, at, at + ID_BYTES - 1)
      s.probes = string.sub(s.probes, 1, at - 1) .. string.sub(s.probes, at + ENTRY_BYTES)
      if fails(s, r, id) then
        enter(s, STATE_OPEN, now)
        s.cause, s.ends = CAUSE_PROBE, s.stamp
      elseif s.good + s.failed >= r.max_probes then close(s, r, now) end
    end
  end
end

local function obey(s, r, command, for_ms, now)
  if command == COMMAND_OPEN then
    open(s, r, CAUSE_ORDER, now)
    if for_ms > 0 then s.ends = s.stamp + for_ms end
  elseif command == COMMAND_RESET or s.state ~= STATE_CLOSED then close(s, r, now) end
  s.held = command == COMMAND_CLOSE and for_ms > 0 and s.stamp + for_ms or 0
end

-- Whether the circuit opens: by its calls, or by the quorum of its processes. Those that see failures report first. So for a span
-- after it has closed, as many processes count as before.
local function trips(s, r)
  local is_much = s.calls >= r.minimum
  if r.quorum <= 1 then
    local callers = s.stamp - s.since < r.span and math.max(s.callers, s.former) or s.callers
    return (is_much or s.failures >= r.max_failures) and exceeds(s.seeing / callers, r.quorum)
  end
  return s.failures >= r.max_failures
    or (is_much and (exceeds(s.failures / s.calls, r.failure_ratio) or exceeds(s.slow / s.calls, r.slow_ratio)))
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
  return math.max(max_probes - s.good - s.failed, under_way == 0 and 1 or 0) - under_way
end

local function step(k, a, now)
  local key, request, batch = KEYS[k], ARGV[a + 1], ARGV[a + 2]
  local r = {}
  r.span, r.tick, r.minimum, r.failure_ratio, r.slow_ratio, r.max_failures, r.cooldown, r.max_probes, r.lease, r.quorum, r.factor,
    r.longest, r.jitter = struct.unpack(RULE, ARGV[a])
  local id, span, tick = string.sub(request, 1, ID_BYTES), r.span, r.tick
  local sequence, first, wanted, command, for_ms, place, sees, window, settled = struct.unpack(REPORT, request, ID_BYTES + 1)
  local s = read_state(key, now)

  s.base = s.base - math.max(0, s.base + s.stamp - now)
  local last = step_of(s.stamp, span)
  s.stamp = now - s.base
  local cutoff = math.floor(now / tick) * tick - span - s.base
  if s.state == STATE_CLOSED then
    evict(key, s, cutoff)
    pass_census(s, last, step_of(s.stamp, span))
  elseif s.state == STATE_HALF_OPEN then lapse(s, r, now) end
  if settled > 0 then settle(s, r, request, id, settled, now) end
  if command ~= COMMAND_NONE then obey(s, r, command, for_ms, now) end

  local tail, from = "", s.size
  if sequence > 0 then
    place = find_process(key, s, id, place)
    local known = place and struct.unpack("<I4", process_at(key, s, place), ENTRY_NUMBER_AT + 1) or 0
    if sequence > known then
      if window > 0 and window ~= s.epoch % EPOCH_MODULUS then sees = 0 end
      place = remember(key, s, place, id, sequence, sees, span)
      local records = s.state == STATE_CLOSED and records_of(s, batch, tick, cutoff, now) or {}
      if #records > 0 then
        if not s.is_cleared and s.front + s.dead < s.size then tail, from = tail_from(key, s, records[1].time) end
        tail = merge(tail, records)
      end
      if s.state == STATE_CLOSED and s.stamp >= s.held and (#records > 0 or r.quorum <= 1) and trips(s, r) then
        open(s, r, CAUSE_CALLS, now)
        tail = ""
      end
    end
  end

  if wanted > 0 and s.state ~= STATE_CLOSED then note_asker(s, id) end
  if wanted > 0 and s.state == STATE_OPEN and s.stamp >= s.ends then enter(s, STATE_HALF_OPEN, now) end
  local granted, turn = 0, s.ends
  if s.state == STATE_HALF_OPEN then turn = turn_of(s, r, id) end
  if s.state == STATE_HALF_OPEN and turn <= s.stamp then
    granted = math.max(0, math.min(wanted, room_of(s, r.max_probes)))
    for i = 0, granted - 1 do s.probes = s.probes .. id .. struct.pack(ENTRY_REST, first + i, s.stamp + r.lease) end
  end

  local soonest, latest = leases(s)
  local wait, expire = 0, span + PROCESS_LIFE_MS
  if s.state ~= STATE_CLOSED then wait = math.max(0, turn - s.stamp) end
  if s.state == STATE_HALF_OPEN and room_of(s, r.max_probes) <= 0 then wait = math.max(wait, soonest - s.stamp) end
  if s.state ~= STATE_CLOSED then expire = math.max(0, s.ends - s.stamp, latest - s.stamp) + OPEN_LIFE_MS
  else expire = math.max(expire, s.held - s.stamp) end
  write_state(key, s, tail, from)
  redis.call("PEXPIREAT", key, string.format("%.0f", now + expire))
  return struct.pack(REPLY, s.state, granted, s.epoch, wait, s.stamp - s.since, s.calls, s.failures, s.slow,
    math.max(0, s.held - s.stamp), s.cause, place or 0, s.callers, s.seeing)
end
