-- An envelope of kind PAYLOAD_RAW: after its header come the bytes that were found instead of a message.
local function raw_envelope(bytes)
  return struct.pack(ENVELOPE, 1, 0, PAYLOAD_RAW, 0, 0, 0, 0, "") .. bytes
end

-- Moves bytes that are not a message to the dead letters, under `id`.
local function bury(times, messages, now, member, deliveries, id, why)
  local old_id = id_of(member)
  local value = redis.call("HGET", messages, ":" .. old_id)
  local digits = string.sub(member, 1, SEQ_DIGITS)
  local own = value and string.sub(value, 1, SEQ_DIGITS)
  if not value or (own ~= digits and redis.call("ZSCORE", times, own .. old_id)) then
    -- The message itself is stored under another member, or is gone.
    redis.call("ZREM", times, member)
    return
  end
  if not string.find(digits, "^[0-9a-f]+$") or #digits < SEQ_DIGITS then digits = string.rep("0", SEQ_DIGITS) end
  local is_raw = string.byte(value, SEQ_DIGITS + ENVELOPE_PAYLOAD_AT + 1) == PAYLOAD_RAW
  local kept = is_raw and string.sub(value, SEQ_DIGITS + 1) or raw_envelope(value)
  redis.call("HSET", messages, ":" .. id, digits .. kept, "!" .. id, why)
  redis.call("ZADD", times, text_of(score_of(DEAD, now, deliveries)), digits .. id)
  if id ~= old_id then redis.call("HDEL", messages, ":" .. old_id, "!" .. old_id) end
  if digits .. id ~= member then redis.call("ZREM", times, member) end
end
