-- The expiry of a shard's two keys. It ends LINGER_MS after the last remembered id, copy of a cancelled message and seq. So an
-- id is known as long as before, and later seqs are higher.

-- Lets the shard expire if it is empty. @levels is emptied first: no step may take keys that expire for keys that stay.
local function expire_if_empty(times, messages, now)
  local count = redis.call("HLEN", messages)
  if count > 4 then return end
  local known = redis.call("HMGET", messages, "@layout", "@seq", "@levels", "@cancelled")
  for i = 1, 4 do
    if known[i] then count = count - 1 end
  end
  if count > 0 or not known[1] then return end
  local ends = math.max(now, math.floor((seq_of(known[2]) or 0) / 1000))
  local _, score = spread(redis.call("ZRANGE", times, score_of(DONE, BAND_SIZE, DELIVERIES_SIZE - 1), score_of(DONE, 0, 0),
    "BYSCORE", "REV", "LIMIT", 0, 1, "WITHSCORES"))
  if score then
    local _, ms = read_score(tonumber(score))
    ends = math.max(ends, ms)
  end
  local at = string.format("%.0f", ends + LINGER_MS)
  redis.call("HSET", messages, "@levels", "")
  redis.call("PEXPIREAT", times, at)
  redis.call("PEXPIREAT", messages, at)
end
