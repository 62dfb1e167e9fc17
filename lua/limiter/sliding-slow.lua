-- The slow path of a sliding window, as the body of a function of limiter/sliding-window.
-- Of a log, `p.log` is its text, and `p.from` the place of its first record. `p.stamp` and `p.frame` are the newest time, and the
-- total before all records, when it was written.
local sliding = kinds[KIND_SLIDING]

-- Whether the numbers of a ring's header are consistent. Its fast path has the same check inline.
local function is_header(p)
  return is_whole(p.longest) and (p.slot < p.slots or p.slot == 0) and p.slots <= 2 * MAX_RECORDS
    and p.records <= p.slots and is_whole(p.before) and is_whole(p.total) and p.before <= p.total
    and is_whole(p.oldest) and is_whole(p.newest) and (p.records == 0 or p.oldest <= p.newest)
end

local function of_log(p, index)
  local at = p.from + index * (p.ms_bytes + p.total_bytes)
  local ms = p.stamp - (p.stamp - struct.unpack(unsigned[p.ms_bytes], p.log, at)) % 256 ^ p.ms_bytes
  if p.total_bytes == 0 then return ms, p.frame + index + 1 end
  local total = struct.unpack(unsigned[p.total_bytes], p.log, at + p.ms_bytes)
  return ms, p.before + (total - p.before) % 256 ^ p.total_bytes
end

-- Returns the time and the total of a record.
local function record_of(p, index)
  local ms, total
  if p.log then
    ms, total = of_log(p, index)
  else
    local at = SLIDING_STATE_BYTES + (p.slot + index) % p.slots * WINDOW_RECORD_BYTES
    ms, total = struct.unpack(WINDOW_RECORD, redis.call("GETRANGE", p.key, at, at + WINDOW_RECORD_BYTES - 1))
    total = p.before + (total - p.before) % TOTAL_MODULUS
  end
  if ms < p.oldest or ms > p.newest then damaged(p.key, "a record of the window is out of order") end
  return ms, total
end

-- Returns the first record from `low` for which `is_found(ms, total)` is true, with its ms and total. It is true from some
-- record on, and for `high`. Searches with doubling steps, then halves, because the record is usually near the front.
local function first_where(p, low, high, is_found)
  local step, ms, total = 1, nil, nil
  while low < high do
    local probe = math.min(low + step - 1, high - 1)
    local probe_ms, probe_total = record_of(p, probe)
    if is_found(probe_ms, probe_total) then
      high, ms, total = probe, probe_ms, probe_total
      break
    end
    low, step = probe + 1, step * 2
  end
  while low < high do
    local middle = math.floor((low + high) / 2)
    local middle_ms, middle_total = record_of(p, middle)
    if is_found(middle_ms, middle_total) then high, ms, total = middle, middle_ms, middle_total else low = middle + 1 end
  end
  return low, ms, total
end

-- Returns the number of records up to `cutoff`, the total with them, and the ms of the next.
local function outside(p, cutoff)
  if p.records == 0 or p.oldest > cutoff then return 0, p.before, p.oldest end
  if p.newest <= cutoff then return p.records, p.total, 0 end
  local index, ms = first_where(p, 1, p.records - 1, function(ms) return ms > cutoff end)
  local _, before = record_of(p, index - 1)
  return index, before, ms or p.newest
end

local function look_at_ring(p, text)
  p.log = nil
  p.longest, p.slots, p.slot, p.records, p.total, p.before, p.oldest, p.newest =
    struct.unpack(SLIDING_WINDOW, text, STATE_HEAD_BYTES + 1)
  if not is_header(p) or redis.call("STRLEN", p.key) ~= SLIDING_STATE_BYTES + p.slots * WINDOW_RECORD_BYTES then
    damaged(p.key, "it is not a sliding window, or has another length")
  end
end

-- Returns `count` records from `first`, packed by `pack`.
local function packed(p, first, count, pack)
  local parts = {}
  for i = 1, count do
    local ms, total = record_of(p, first + i - 1)
    parts[i] = pack(ms, total)
  end
  return table.concat(parts)
end

local function ring_record(ms, total)
  return struct.pack(WINDOW_RECORD, ms, total % TOTAL_MODULUS)
end

-- Returns `count` records from `first`, as a ring has them.
local function ring_of(p, first, count)
  if p.log or count == 0 then return packed(p, first, count, ring_record) end
  local slot = (p.slot + first) % p.slots
  local at, turned = SLIDING_STATE_BYTES + slot * WINDOW_RECORD_BYTES, math.max(0, slot + count - p.slots)
  local ring = redis.call("GETRANGE", p.key, at, at + (count - turned) * WINDOW_RECORD_BYTES - 1)
  if turned == 0 then return ring end
  return ring .. redis.call("GETRANGE", p.key, SLIDING_STATE_BYTES, SLIDING_STATE_BYTES + turned * WINDOW_RECORD_BYTES - 1)
end

-- Returns `count` records from `first`, as a log has them.
local function log_of(p, first, count, ms_bytes, total_bytes)
  if p.log and p.ms_bytes == ms_bytes and p.total_bytes == total_bytes then
    local width = ms_bytes + total_bytes
    return string.sub(p.log, p.from + first * width, p.from + (first + count) * width - 1)
  end
  return packed(p, first, count, function(ms, total) return log_record(ms, total, ms_bytes, total_bytes) end)
end

-- Slots for a number of records, with room to grow up to the limit, in steps. Penalties and longer spans may need more.
local function slots_for(needed, limit)
  local slots = 8
  while slots < needed do slots = room > 1 and math.ceil((slots + 1) * room) or needed end
  return needed > limit and slots or math.min(slots, limit)
end

local function header_of(p)
  return head_bytes(p)
    .. struct.pack(SLIDING_WINDOW, p.longest, p.slots, p.slot, p.records, p.total, p.before, p.oldest, p.newest)
end

local function expire(p, now)
  local ends = math.max(p.newest + p.longest, p.blocked, p.holds)
  if ends > now then redis.call("PEXPIREAT", p.key, whole(ends)) else redis.call("DEL", p.key) end
end

-- Writes the whole state as a ring. As for save.
local function save_ring(p, first, kept, now)
  local slots, ring = slots_for(p.records, p.limit), ring_of(p, first, kept)
  if p.records > kept then ring = ring .. ring_record(p.newest, p.total) end
  p.log, p.slots, p.slot = nil, slots, 0
  redis.call("SET", p.key, header_of(p) .. ring .. string.rep("\0", (slots - p.records) * WINDOW_RECORD_BYTES))
  expire(p, now)
end

-- Writes the whole state: `kept` records from `first`, then one of p.newest and p.total if p.records is more than these.
local function save(p, first, kept, now)
  local used, ms_bytes, total_bytes = p.total - p.before, bytes_of(p.longest - 1), p.log and p.total_bytes or 0
  if used == p.records and (kept == 0 or total_bytes == 0) then total_bytes = 0
  elseif 256 ^ total_bytes <= used then total_bytes = bytes_of(math.max(used, p.limit)) end
  local untils = (p.blocked > 0 or p.holds > 0) and struct.pack(UNTIL, p.blocked, p.holds) or ""
  local from = SLIDING_LOG_BYTES + #untils + 1
  local most = p.log and math.max(#p.log, longest_log(p.limit)) or longest_log(p.limit)
  if ms_bytes > 6 or from - 1 + p.records * (ms_bytes + total_bytes) > most then return save_ring(p, first, kept, now) end
  local log = log_of(p, first, kept, ms_bytes, total_bytes)
  if p.records > kept then log = log .. log_record(p.newest, p.total, ms_bytes, total_bytes) end
  local head = struct.pack(SLIDING_LOG, FORMAT_AND_KIND_SLIDING_LOG, ms_bytes, total_bytes, p.records, #untils, p.newest, p.longest, used)
  p.log, p.from, p.ms_bytes, p.total_bytes, p.stamp, p.frame = head .. untils .. log, from, ms_bytes, total_bytes, p.newest, p.before
  p.slots = 0
  keep(p, p.log, p.newest + p.longest, now)
end

local function look_at_log(p, text, now)
  local until_bytes, used, last
  p.ms_bytes, p.total_bytes, p.records, until_bytes, p.newest, p.longest, used, p.oldest, last = log_head(text)
  if not p.ms_bytes then damaged(p.key, "it is not a sliding window, or has another length") end
  p.there, p.log, p.from, p.stamp = true, text, SLIDING_LOG_BYTES + until_bytes + 1, p.newest
  local blocked, holds = log_ends(text)
  read_ends(p, blocked, holds, now)
  if p.total_bytes > 0 then p.before = (last - used) % 256 ^ p.total_bytes end
  p.total = p.before + used
end

function sliding.look(p, now)
  local text = redis.pcall("GETRANGE", p.key, "0", LOG_MOST_BYTES_TEXT)
  p.longest, p.slots, p.slot, p.records, p.total, p.before, p.oldest, p.newest = 0, 0, 0, 0, 0, 0, 0, 0
  p.log, p.ms_bytes, p.total_bytes, p.from, p.stamp, p.frame = "", 0, 0, 1, 0, 0
  if type(text) == "string" and string.byte(text) == LOG_FORMAT then
    look_at_log(p, text, now)
  else
    head_of(p, text, SLIDING_STATE_BYTES, now)
    if p.there then look_at_ring(p, text) end
  end
  p.longest = math.max(p.longest, p.span)
  p.at = math.max(now, p.newest)
  p.first, p.base, p.next = outside(p, p.at - p.span)
  p.used = p.total - p.base
  p.free = p.limit - p.used
  p.is_full = p.records >= MAX_RECORDS and p.records - outside(p, p.at - p.longest) >= MAX_RECORDS
end

function sliding.wait(p, permits, now)
  if permits > p.limit then return math.huge end
  local target = p.base + p.used + permits - p.limit
  local _, ms = first_where(p, p.first, p.records - 1, function(_, total) return total >= target end)
  return (ms or p.newest) + p.span - now
end

function sliding.reset(p, now)
  return p.used > 0 and p.newest + p.span - now or 0
end

function sliding.put(p, calls, cost, now)
  local permits = calls * cost
  if permits == 0 then return end
  local first, base, next_ms = p.first, p.base, p.next
  if p.longest > p.span then first, base, next_ms = outside(p, p.at - p.longest) end
  permits = math.min(permits, TOTAL_MODULUS - 1 - (p.total - base))
  local turns = base - base % TOTAL_MODULUS
  p.total, p.used, p.base, base = p.total + permits - turns, p.used + permits, p.base - turns, base - turns
  local left = p.records - first
  local is_same = left > 0 and p.newest == p.at
  local needed = is_same and left or left + 1
  p.before, p.oldest, p.newest = base, left > 0 and next_ms or p.at, p.at
  if needed > p.slots or needed * 4 < p.slots and p.slots > 32 then
    p.records = needed
    save(p, first, needed - 1, now)
  else
    p.slot, p.records = (p.slot + first) % p.slots, needed
    local at = SLIDING_STATE_BYTES + (p.slot + needed - 1) % p.slots * WINDOW_RECORD_BYTES
    redis.call("SETRANGE", p.key, at, ring_record(p.at, p.total))
    redis.call("SETRANGE", p.key, "0", header_of(p))
    expire(p, now)
  end
  p.first, p.there = p.first - first, true
end

function sliding.back(p, permits, now)
  permits = math.min(permits, p.used)
  if permits == 0 then return end
  p.total, p.used = p.total - permits, p.used - permits
  local target, kept, ms = p.total, 0, nil
  if target <= p.before then
    p.records, p.newest = 0, p.at
  else
    kept, ms = first_where(p, 0, p.records - 1, function(_, total) return total >= target end)
    p.records, p.newest = kept + 1, ms or p.newest
  end
  if p.log then return save(p, 0, kept, now) end
  if p.records > 0 then
    local at = SLIDING_STATE_BYTES + (p.slot + kept) % p.slots * WINDOW_RECORD_BYTES
    redis.call("SETRANGE", p.key, at, ring_record(p.newest, target))
  end
  redis.call("SETRANGE", p.key, "0", header_of(p))
  expire(p, now)
end

function sliding.write(p, now)
  if p.log then return save(p, 0, p.records, now) end
  redis.call("SETRANGE", p.key, "0", header_of(p))
  expire(p, now)
end
