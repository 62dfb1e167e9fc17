-- @include limiter/state
-- @include limiter/sliding-log
-- Exact sliding window: at most `limit` permits in any half-open span of time. There is one record for each millisecond with
-- permits: its time and the running total with it. The permits in a window are the difference of two totals.
-- State: a log while it fits (limiter/sliding-log), else a ring that grows: SLIDING_STATE, then a WINDOW_RECORD in each slot.
-- A ring that shrinks becomes a log again. In format 1 every state was a ring.
-- A truncated ring is found at the first missing record, because all earlier decisions use the header only.
-- Totals in a ring are stored modulo 2^48. The retained permits are at most 2^48 - 1.
-- Cost: O(log limit) records read. A call writes the whole log, or one record of a ring.
-- Factor of the spare room of a ring when it grows.
local room = 1.5

-- The fast path of a ring.
local function quick_ring(key, text, calls, cost, limit, span, now)
  local format_and_kind, blocked, holds, longest, slots, slot, records, total, before, oldest, newest =
    struct.unpack(SLIDING_STATE, text)
  local at = now > newest and now or newest
  if format_and_kind ~= FORMAT_AND_KIND_SLIDING or blocked ~= 0 or holds ~= 0 or longest ~= span or records == 0
    or slot >= slots or slots > 2 * MAX_RECORDS or records > slots or oldest % 1 + newest % 1 + before % 1 + total % 1 ~= 0
    or newest > MAX_NUMBER or oldest > newest or before < 0 or total < before or total > MAX_NUMBER
    or oldest <= at - span then
    return
  end
  local is_new, passes = newest ~= at, passes_of(calls, (limit - total + before) / cost)
  if passes == 0 and cost <= limit and redis.call("PTTL", key) ~= -1 then
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
  local from = SLIDING_STATE_BYTES + (slot + records - 1) % slots * WINDOW_RECORD_BYTES
  redis.call("SETRANGE", key, from, struct.pack(WINDOW_RECORD, at, total % TOTAL_MODULUS))
  redis.call("SETRANGE", key, SLIDING_STATE_RECORDS_AT_TEXT, struct.pack(SLIDING_TAIL, records, total, before, oldest, at))
  redis.call("PEXPIREAT", key, text_of(at + span))
  return passes, total - before, 0, at + span - now
end

-- A script call makes all functions of its text anew. Those of the slow path only where it is taken.
local function make_slow()
-- @include limiter/sliding-slow
end

kinds[KIND_SLIDING] = {
  quick = function(key, calls, cost, limit, span, _, _, now)
    local text = redis.pcall("GETRANGE", key, "0", limit > LOG_LIMIT and SHORT_LOG_BYTES_TEXT or LOG_MOST_BYTES_TEXT)
    if #text >= SLIDING_STATE_BYTES and string.byte(text) == FORMAT then
      return quick_ring(key, text, calls, cost, limit, span, now)
    end
    return quick_log(key, text, calls, cost, limit, span, now)
  end,
  look = function(p, now)
    make_slow()
    kinds[KIND_SLIDING].look(p, now)
  end,
}
