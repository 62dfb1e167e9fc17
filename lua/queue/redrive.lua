#!lua flags=allow-oom
-- Makes dead messages due at once, as if they had just been added. They get a new seq, so that late results of their
-- earlier deliveries are refused.
-- A script: a message must never be both dead and waiting, or neither.
-- KEYS  1 times · 2 messages
-- ARGV  1 layout · 2 number of the earliest dead messages to skip · 3 number to redrive after them, 0..256 · 4 MessagePack,
--       an array of up to 256 further ids
-- Reply REDRIVEN
-- Errors MISMATCH, CORRUPT; nothing was written
-- Law   Corrupt messages stay dead. A member whose message is gone is removed.
-- Cost  O(messages * log(stored messages))
-- @include queue/layout
local keys_per_step = 2
local arguments_per_step = 4

local function is_message(value)
  local first = SEQ_DIGITS + ENVELOPE_PRIORITY_AT + 1
  local priority, payload = string.byte(value, first, first + 1)
  return priority ~= nil and priority <= MAX_PRIORITY and payload ~= PAYLOAD_RAW
end

local function step(k, a, now)
  local times, messages, limit, ids = KEYS[k], KEYS[k + 1], tonumber(ARGV[a + 2]), cmsgpack.unpack(ARGV[a + 3])
  local known = redis.call("HMGET", messages, "@layout", "@seq")
  local refused = mismatch(messages, known[1], ARGV[a])
  if refused then return refused end
  local seq, found = seq_of(known[2]), {}
  if not seq then return damaged(messages, "its field @seq is not a number; if it is deleted, seqs start again") end
  if limit > 0 then
    found = redis.call("ZRANGE", times, score_of(DEAD, 0, 0), score_of(DEAD, BAND_SIZE, DELIVERIES_SIZE - 1), "BYSCORE",
      "LIMIT", ARGV[a + 1], limit, "WITHSCORES")
  end
  local first_count = #found / 2
  for _, id in ipairs(ids) do
    local value = redis.call("HGET", messages, ":" .. id)
    local member = value and string.sub(value, 1, SEQ_DIGITS) .. id
    local score = member and redis.call("ZSCORE", times, member)
    if score and read_score(tonumber(score)) == DEAD then
      found[#found + 1] = member
      found[#found + 1] = score
    end
  end
  local gone, moved, errors, values, seen, stay, orphans = {}, {}, {}, {}, {}, 0, {}
  for i = 1, #found, 2 do
    local id = id_of(found[i])
    local value = redis.call("HGET", messages, ":" .. id)
    if not value then
      orphans[#orphans + 1] = found[i]
    elseif not is_message(value) then
      if i < 2 * first_count then stay = stay + 1 end
    elseif not seen[id] then
      seen[id] = true
      seq = math.max(seq + 1, now * 1000)
      local digits = string.format("%014x", seq)
      gone[#gone + 1] = found[i]
      errors[#errors + 1] = "!" .. id
      moved[#moved + 1] = score_of(string.byte(value, SEQ_DIGITS + ENVELOPE_PRIORITY_AT + 1), now, 0)
      moved[#moved + 1] = digits .. id
      values[#values + 1] = ":" .. id
      values[#values + 1] = digits .. string.sub(value, SEQ_DIGITS + 1)
    end
  end
  if #gone > 0 then
    redis.call("ZREM", times, spread(gone))
    redis.call("ZADD", times, spread(moved))
    redis.call("HSET", messages, "@seq", string.format("%.0f", seq), spread(values))
    redis.call("HDEL", messages, spread(errors))
    publish_due(times, now)
  end
  if #orphans > 0 then redis.call("ZREM", times, spread(orphans)) end
  return struct.pack(REDRIVEN, #gone, stay)
end
