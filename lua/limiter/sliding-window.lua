-- @include limiter/state
-- Exact sliding window: at most `limit` permits in any half-open span of time. A ring that grows has one record for each
-- millisecond with permits. The permits in a window are the difference of two running totals.
-- A truncated ring is found at the first missing record, because all earlier decisions use the header only.
-- Totals are stored modulo 2^48. The retained permits are at most 2^48 - 1.
-- State: SLIDING_STATE, then a WINDOW_RECORD in each slot.
-- Factor of the spare room of a ring when it grows.
local room = 1.5

-- Whether the numbers of a header are consistent. The fast path has the same check inline.
local function is_header(p)
  return is_whole(p.longest) and (p.slot < p.slots or p.slot == 0) and p.slots <= 2 * MAX_RECORDS
    and p.records <= p.slots and is_whole(p.before) and is_whole(p.total) and p.before <= p.total
    and is_whole(p.oldest) and is_whole(p.newest) and (p.records == 0 or p.oldest <= p.newest)
end

local function record_of(p, index)
  local at = SLIDING_STATE_BYTES + (p.slot + index) % p.slots * WINDOW_RECORD_BYTES
  local ms, total = struct.unpack(WINDOW_RECORD, redis.call("GETRANGE", p.key, at, at + WINDOW_RECORD_BYTES - 1))
  if ms < p.oldest or ms > p.newest then damaged(p.key, "a record of the window is out of order") end
  return ms, p.before + (total - p.before) % TOTAL_MODULUS
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

-- Copies the records from `first` into a ring of its own size, and writes the whole state.
local function rewrite(p, first, slots)
  local left, slot = p.records - first, p.slots > 0 and (p.slot + first) % p.slots or 0
  local ring = ""
  if left > 0 then
    local at, turned = SLIDING_STATE_BYTES + slot * WINDOW_RECORD_BYTES, math.max(0, slot + left - p.slots)
    ring = redis.call("GETRANGE", p.key, at, at + (left - turned) * WINDOW_RECORD_BYTES - 1)
    if turned > 0 then ring = ring .. redis.call("GETRANGE", p.key, SLIDING_STATE_BYTES, SLIDING_STATE_BYTES + turned * WINDOW_RECORD_BYTES - 1) end
  end
  p.slots, p.slot, p.records = slots, 0, left
  return ring .. string.rep("\0", (slots - left) * WINDOW_RECORD_BYTES)
end

-- Slots for a number of records, with room to grow up to the limit. Penalties and longer spans may need more.
local function slots_for(needed, limit)
  local roomy = math.max(8, math.ceil(needed * room))
  return needed > limit and roomy or math.min(roomy, limit)
end

local function header_of(p)
  return head_bytes(p)
    .. struct.pack(SLIDING_WINDOW, p.longest, p.slots, p.slot, p.records, p.total, p.before, p.oldest, p.newest)
end

local function expire(p, now)
  local ends = math.max(p.newest + p.longest, p.blocked, p.holds)
  if ends > now then redis.call("PEXPIREAT", p.key, whole(ends)) else redis.call("DEL", p.key) end
end

kinds[KIND_SLIDING] = {
  quick = function(key, calls, cost, limit, span, _, _, now)
    local text = redis.pcall("GETRANGE", key, "0", SLIDING_STATE_LAST_BYTE_TEXT)
    local format_and_kind, blocked, holds, longest, slots, slot, records, total, before, oldest, newest =
      FORMAT_AND_KIND_SLIDING, 0, 0, span, 0, 0, 0, 0, 0, now, now
    local at, is_new = now, true
    if text == "" then
      slots = slots_for(1, limit)
    elseif #text ~= SLIDING_STATE_BYTES then
      return
    else
      format_and_kind, blocked, holds, longest, slots, slot, records, total, before, oldest, newest =
        struct.unpack(SLIDING_STATE, text)
      if newest > at then at = newest end
      if format_and_kind ~= FORMAT_AND_KIND_SLIDING or blocked ~= 0 or holds ~= 0 or longest ~= span or records == 0
        or slot >= slots or slots > 2 * MAX_RECORDS or records > slots or oldest % 1 + newest % 1 + before % 1 + total % 1 ~= 0
        or newest > MAX_NUMBER or oldest > newest or before < 0 or total < before or total > MAX_NUMBER
        or oldest <= at - span then
        return
      end
      is_new = newest ~= at
    end
    local passes = passes_of(calls, (limit - total + before) / cost)
    if passes == 0 and text ~= "" and cost <= limit and redis.call("PTTL", key) ~= -1 then
      -- Denied: usually the end of the oldest record alone makes room.
      local from = SLIDING_STATE_BYTES + slot * WINDOW_RECORD_BYTES
      local its_total = struct.unpack(WINDOW_RECORD, redis.call("GETRANGE", key, from, from + WINDOW_RECORD_BYTES - 1))
      if (its_total - before) % TOTAL_MODULUS >= total - before + cost - limit then
        return 0, total - before, oldest + span - now, newest + span - now
      end
    end
    if passes < calls or total >= TOTAL_MODULUS or is_new and (records == slots or records >= MAX_RECORDS) then return end
    if is_new then records = records + 1 end
    total = total + passes * cost
    local record = struct.pack(WINDOW_RECORD, at, total % TOTAL_MODULUS)
    local from = SLIDING_STATE_BYTES + (slot + records - 1) % slots * WINDOW_RECORD_BYTES
    if text == "" then
      redis.call("SET", key,
        struct.pack(SLIDING_STATE, FORMAT_AND_KIND_SLIDING, 0, 0, span, slots, 0, 1, total, 0, at, at)
        .. record .. string.rep("\0", (slots - 1) * WINDOW_RECORD_BYTES), "PXAT", text_of(at + span))
    else
      redis.call("SETRANGE", key, from, record)
      redis.call("SETRANGE", key, SLIDING_STATE_RECORDS_AT_TEXT,
        struct.pack(SLIDING_TAIL, records, total, before, oldest, at))
      redis.call("PEXPIREAT", key, text_of(at + span))
    end
    return passes, total - before, 0, at + span - now
  end,
  look = function(p, now)
    local text = redis.pcall("GETRANGE", p.key, "0", SLIDING_STATE_LAST_BYTE_TEXT)
    head_of(p, text, SLIDING_STATE_BYTES, now)
    p.longest, p.slots, p.slot, p.records, p.total, p.before, p.oldest, p.newest = 0, 0, 0, 0, 0, 0, 0, 0
    if p.there then
      p.longest, p.slots, p.slot, p.records, p.total, p.before, p.oldest, p.newest =
        struct.unpack(SLIDING_WINDOW, text, STATE_HEAD_BYTES + 1)
      if not is_header(p) or redis.call("STRLEN", p.key) ~= SLIDING_STATE_BYTES + p.slots * WINDOW_RECORD_BYTES then
        damaged(p.key, "it is not a sliding window, or has another length")
      end
    end
    p.longest = math.max(p.longest, p.span)
    p.at = math.max(now, p.newest)
    p.first, p.base, p.next = outside(p, p.at - p.span)
    p.used = p.total - p.base
    p.free = p.limit - p.used
    p.is_full = p.records >= MAX_RECORDS and p.records - outside(p, p.at - p.longest) >= MAX_RECORDS
  end,
  wait = function(p, permits, now)
    if permits > p.limit then return math.huge end
    local target = p.base + p.used + permits - p.limit
    local _, ms = first_where(p, p.first, p.records - 1, function(_, total) return total >= target end)
    return (ms or p.newest) + p.span - now
  end,
  reset = function(p, now)
    return p.used > 0 and p.newest + p.span - now or 0
  end,
  put = function(p, calls, cost, now)
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
    local record = struct.pack(WINDOW_RECORD, p.at, p.total % TOTAL_MODULUS)
    if needed > p.slots or needed * 4 < p.slots and p.slots > 32 then
      local ring = rewrite(p, first, slots_for(needed, p.limit))
      p.records = needed
      ring = string.sub(ring, 1, (needed - 1) * WINDOW_RECORD_BYTES) .. record .. string.sub(ring, needed * WINDOW_RECORD_BYTES + 1)
      redis.call("SET", p.key, header_of(p) .. ring)
    else
      p.slot, p.records = (p.slot + first) % p.slots, needed
      local at = SLIDING_STATE_BYTES + (p.slot + needed - 1) % p.slots * WINDOW_RECORD_BYTES
      redis.call("SETRANGE", p.key, at, record)
      redis.call("SETRANGE", p.key, "0", header_of(p))
    end
    p.first, p.there = p.first - first, true
    expire(p, now)
  end,
  back = function(p, permits, now)
    permits = math.min(permits, p.used)
    if permits == 0 then return end
    p.total, p.used = p.total - permits, p.used - permits
    local target = p.total
    if target <= p.before then
      p.records, p.newest = 0, p.at
    else
      local index, ms = first_where(p, 0, p.records - 1, function(_, total) return total >= target end)
      p.records, p.newest = index + 1, ms or p.newest
      local at = SLIDING_STATE_BYTES + (p.slot + index) % p.slots * WINDOW_RECORD_BYTES
      redis.call("SETRANGE", p.key, at, struct.pack(WINDOW_RECORD, p.newest, target % TOTAL_MODULUS))
    end
    redis.call("SETRANGE", p.key, "0", header_of(p))
    expire(p, now)
  end,
  write = function(p, now)
    redis.call("SETRANGE", p.key, "0", header_of(p))
    expire(p, now)
  end,
}
