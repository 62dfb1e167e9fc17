#!lua flags=allow-oom
-- Cancels a message, or changes when it is due.
-- A script: a message claimed between the check and the write must be neither cancelled nor moved.
-- KEYS  1 times · 2 messages
-- ARGV  1 layout · 2 id · 3 due time, as in queue/add; empty: cancel
-- Reply MOVE, u8. Moved: or cancelled. A dead message can be cancelled, but not moved
-- Errors MISMATCH, CORRUPT; nothing was written
-- Law   A rescheduled message keeps its seq (its order among equal times) and its delivery count.
--       A cancelled message does not come back: late copies of the request that added it are recognised for 10 min by its nonce.
--       Its id is new for other requests.
-- Cost  O(log(stored messages))
-- @include queue/layout
-- @include queue/expiry
local keys_per_step = 2
local arguments_per_step = 3
local function step(k, a, now)
  local times, messages, id, when = KEYS[k], KEYS[k + 1], ARGV[a + 1], ARGV[a + 2]
  local known = redis.call("HMGET", messages, ":" .. id, "@levels", "@layout")
  local refused = mismatch(messages, known[3], ARGV[a])
  if refused then return refused end
  if not known[1] then return MOVE_UNKNOWN_BYTE end
  local member = string.sub(known[1], 1, SEQ_DIGITS) .. id
  local band, _, deliveries = read_score(tonumber(redis.call("ZSCORE", times, member) or "0"))
  if band == CLAIMED then return MOVE_CLAIMED_BYTE end
  if when == "" then
    redis.call("ZREM", times, member)
    redis.call("HDEL", messages, ":" .. id, "!" .. id)
    local ends = now + CANCELLED_MS
    redis.call("ZADD", times, text_of(score_of(DONE, ends, 0)), cancelled_member(known[1], SEQ_DIGITS, id))
    redis.call("HSET", messages, "@cancelled", string.format("%.0f", ends))
    expire_if_empty(times, messages, now)
    return MOVE_MOVED_BYTE
  end
  if band == DEAD then return MOVE_DEAD_BYTE end
  local due = tonumber(when)
  if string.sub(when, 1, 1) == "+" then due = now + due end
  due = math.max(0, math.min(due, BAND_SIZE - 1))
  local head = head_of(times, levels_of(known[2], known[3]))
  redis.call("ZADD", times, score_of(band, due, deliveries), member)
  if due < head then publish_due(times, due) end
  return MOVE_MOVED_BYTE
end
