#!lua flags=allow-oom
-- Has dead messages wait again, due at once, as if they had just been added: under a new seq, so that what is said of
-- their deliveries before is refused.
-- A script: a message is dead until it waits.
-- KEYS  1 times · 2 messages
-- ARGV  1 layout · 2 most: those that died first, 0..256 · 3 MessagePack, an array of up to 256 ids, which come besides
-- Reply f64 how many
-- Errors CLASH; nothing was written
-- Cost  O(messages * log of what is there)
-- @include queue/law
local keys_per_step = 2
local arguments_per_step = 3
local function step(k, a, now)
  local times, messages, most, ids = KEYS[k], KEYS[k + 1], tonumber(ARGV[a + 1]), cmsgpack.unpack(ARGV[a + 2])
  local known = redis.call("HMGET", messages, "@layout", "@seq")
  local refused = clash(known[1], ARGV[a])
  if refused then return refused end
  local seq, found = tonumber(known[2] or "0"), {}
  if most > 0 then found = first_of(times, DEAD, BAND_SIZE, most) end
  for _, id in ipairs(ids) do
    local value = redis.call("HGET", messages, ":" .. id)
    local member = value and string.sub(value, 1, SEQ_DIGITS) .. id
    local score = member and redis.call("ZSCORE", times, member)
    if score and read_score(tonumber(score)) == DEAD then
      found[#found + 1] = member
      found[#found + 1] = score
    end
  end
  local gone, moved, errors, values, seen = {}, {}, {}, {}, {}
  for i = 1, #found, 2 do
    local id = id_of(found[i])
    local value = redis.call("HGET", messages, ":" .. id)
    if value and not seen[id] then
      seen[id] = true
      seq = math.max(seq + 1, now * 1000)
      local digits = string.format("%014x", seq)
      gone[#gone + 1] = found[i]
      errors[#errors + 1] = "!" .. id
      moved[#moved + 1] = score_of(string.byte(value, SEQ_DIGITS + 2), now, 0)
      moved[#moved + 1] = digits .. id
      values[#values + 1] = ":" .. id
      values[#values + 1] = digits .. string.sub(value, SEQ_DIGITS + 1)
    end
  end
  if #gone > 0 then
    redis.call("ZREM", times, unpack(gone))
    redis.call("ZADD", times, unpack(moved))
    redis.call("HSET", messages, "@seq", string.format("%.0f", seq), unpack(values))
    redis.call("HDEL", messages, unpack(errors))
    tell(times, now)
  end
  return struct.pack("<d", #gone)
end
