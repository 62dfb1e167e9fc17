#!lua
-- Takes in what one process has gathered, decides by what all have, and tells the circuit's state.
-- A script: the decision is taken on the server's clock, from all processes' numbers, in one step with their counting.
-- KEYS  1 the circuit (breaker/state)
-- ARGV  1 rule, 9 x f64: span ms, tick ms, minimum calls, failure ratio, slow ratio, failures, cooldown ms, probes, lease ms
--       2 process, 16 characters · u32 sequence of the batch, 0 for none · u32 number of the first probe asked for · u32
--         probes asked for · u32 probes that ended, then for each u32 number, u32 verdict: 0 void, 1 good, 2 bad
--       3 batch, for each ms in which calls were counted, oldest first, 4 x u32: age ms, calls, failures, slow calls
-- Reply u32 state · u32 probes granted, of those asked for the first · f64 epoch · f64 ms until asking is worthwhile ·
--       f64 for how long the window has been counted · f64 calls, failures, slow calls, as the state has them
-- Errors CORRUPT: the key holds something else
-- Law   a batch counts once, an ended probe too; a probe asked for again, with its number, is another probe.
-- Cost  O(records taken in + records that left + processes), in rare cases O(records of the window)
-- @include breaker/window
local keys_per_step = 1
local arguments_per_step = 3

-- What became of probes; one that is not under way changes nothing.
local function settle(s, wish, id, count, now, tick, cooldown, most)
  for at = ID_BYTES + 17, ID_BYTES + 16 + 8 * count, 8 do
    local place = find_entry(s.probes, id .. string.sub(wish, at, at + 3))
    if place then
      local verdict = struct.unpack("<I4", wish, at + 4)
      s.probes = string.sub(s.probes, 1, place - 1) .. string.sub(s.probes, place + ENTRY_BYTES)
      if verdict == 2 then
        enter(s, OPEN, now)
        s.ends = now - s.base + cooldown
      elseif verdict == 1 then
        s.good = s.good + 1
      end
      if s.state == HALF_OPEN and s.good >= most then
        enter(s, CLOSED, now)
        s.since = math.floor(now / tick) * tick - s.base
      end
    end
  end
end

-- Notes a process's batch; one more than there is room for takes the place of those that were silent for long, or longest.
local function remember(s, id, entry, keep)
  local at = find_entry(s.processes, id)
  if at then
    s.processes = string.sub(s.processes, 1, at - 1) .. entry .. string.sub(s.processes, at + ENTRY_BYTES)
    return
  end
  local kept, oldest, place = {}, math.huge, 0
  for each = 1, #s.processes, ENTRY_BYTES do
    local came = struct.unpack("<d", s.processes, each + ID_BYTES + 4)
    if came >= keep then
      kept[#kept + 1] = string.sub(s.processes, each, each + ENTRY_BYTES - 1)
      if came < oldest then oldest, place = came, #kept end
    end
  end
  if #kept >= MOST_PROCESSES then table.remove(kept, place) end
  kept[#kept + 1] = entry
  s.processes = table.concat(kept)
end

-- The end of the first and of the last lease.
local function leases(s)
  local first, last = math.huge, -math.huge
  for at = 1, #s.probes, ENTRY_BYTES do
    local ends = struct.unpack("<d", s.probes, at + ID_BYTES + 4)
    first, last = math.min(first, ends), math.max(last, ends)
  end
  return first, last
end

local function room_of(s, most)
  local under_way = #s.probes / ENTRY_BYTES
  return math.max(most - s.good, under_way == 0 and 1 or 0) - under_way
end

local function step(k, a, now)
  local key, wish, batch = KEYS[k], ARGV[a + 1], ARGV[a + 2]
  local span, tick, minimum, failure_ratio, slow_ratio, most_failures, cooldown, most_probes, lease =
    struct.unpack("<ddddddddd", ARGV[a])
  local id = string.sub(wish, 1, ID_BYTES)
  local sequence, first, wanted, settled = struct.unpack("<I4I4I4I4", wish, ID_BYTES + 1)
  local s = read_state(key, now)

  s.base = s.base - math.max(0, s.base + s.stamp - now)
  s.stamp = now - s.base
  local cutoff = math.floor(now / tick) * tick - span - s.base
  if s.state == CLOSED then evict(key, s, cutoff)
  elseif s.state == HALF_OPEN and leases(s) <= s.stamp then
    enter(s, OPEN, now)
    s.ends = s.stamp
  end
  if settled > 0 then settle(s, wish, id, settled, now, tick, cooldown, most_probes) end

  local tail, from = "", s.size
  local known = find_entry(s.processes, id)
  if sequence > (known and struct.unpack("<I4", s.processes, known + ID_BYTES) or 0) then
    remember(s, id, id .. struct.pack("<I4d", sequence, s.stamp), s.stamp - span - PROCESS_LIFE_MS)
    local records = s.state == CLOSED and taken_in(s, batch, tick, cutoff, now) or {}
    if #records > 0 then
      if not s.is_cleared and s.front + s.dead < s.size then tail, from = tail_from(key, s, records[1][1]) end
      tail = merge(tail, records)
      local bad, late = s.failures / s.calls, s.slow / s.calls
      if s.failures >= most_failures or (s.calls >= minimum and (bad > failure_ratio or (failure_ratio == 1 and bad >= 1)
        or late > slow_ratio or (slow_ratio == 1 and late >= 1))) then
        enter(s, OPEN, now)
        s.ends, tail = s.stamp + cooldown, ""
      end
    end
  end

  if wanted > 0 and s.state == OPEN and s.stamp >= s.ends then enter(s, HALF_OPEN, now) end
  local granted = 0
  if s.state == HALF_OPEN then
    granted = math.max(0, math.min(wanted, room_of(s, most_probes)))
    for i = 0, granted - 1 do s.probes = s.probes .. id .. struct.pack("<I4d", first + i, s.stamp + lease) end
  end

  local soonest, latest = leases(s)
  local wait, expire = 0, span + PROCESS_LIFE_MS
  if s.state == OPEN then wait = math.max(0, s.ends - s.stamp)
  elseif s.state == HALF_OPEN and room_of(s, most_probes) <= 0 then wait = soonest - s.stamp end
  if s.state ~= CLOSED then expire = math.max(0, s.ends - s.stamp, latest - s.stamp) + OPEN_LIFE_MS end
  write_state(key, s, tail, from)
  redis.call("PEXPIREAT", key, string.format("%.0f", now + expire))
  return struct.pack("<I4I4dddddd", s.state, granted, s.epoch, wait, s.stamp - s.since, s.calls, s.failures, s.slow)
end
