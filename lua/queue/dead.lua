#!lua flags=allow-oom
-- Dead messages, those that died first before the others.
-- A script: what they say is of the instant of the list.
-- KEYS  1 times · 2 messages
-- ARGV  1 layout · 2 how many to pass over · 3 how many, 1..256
-- Reply for each f64 score · u32, id · u32, what messages has of it · u32, why it failed; 1 MiB at most, or one message
-- Errors CLASH
-- Cost  O(log of what is there + passed over + listed)
-- @include queue/law
local keys_per_step = 2
local arguments_per_step = 3
local MOST_BYTES = 1048576
local function step(k, a, now)
  local times, messages = KEYS[k], KEYS[k + 1]
  local refused = clash(redis.call("HGET", messages, "@layout"), ARGV[a])
  if refused then return refused end
  local from, to = score_of(DEAD, 0, 0), score_of(DEAD, BAND_SIZE, DELIVERIES_SIZE - 1)
  local found = redis.call("ZRANGE", times, from, to, "BYSCORE", "LIMIT", ARGV[a + 1], ARGV[a + 2], "WITHSCORES")
  local parts, bytes = {}, 0
  for i = 1, #found, 2 do
    local id = id_of(found[i])
    local known = redis.call("HMGET", messages, ":" .. id, "!" .. id)
    local value, why = known[1] or "", known[2] or ""
    bytes = bytes + #value
    if bytes > MOST_BYTES and #parts > 0 then break end
    parts[#parts + 1] = struct.pack("<dI4", tonumber(found[i + 1]), #id) .. id .. struct.pack("<I4", #value) .. value ..
      struct.pack("<I4", #why) .. why
  end
  return table.concat(parts)
end
