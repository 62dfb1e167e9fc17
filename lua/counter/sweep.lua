#!lua flags=allow-oom
-- Deletes fields of generations that were acknowledged, and marks of producers that were not heard of for an hour.
-- A script: what it is told to delete may be old news; it deletes only what is to go now.
-- KEYS  the shard
-- ARGV  layout · fields, MessagePack: an array of names
-- Reply f64 fields deleted
-- Errors CLASH
-- Cost  O(fields)
-- @include counter/law
-- @include counter/shard
local keys_per_step = 1
local arguments_per_step = 2
local function step(k, a, now)
  local key = KEYS[k]
  local known, refused = open_shard(key, ARGV[a])
  if refused then return refused end
  local acked, gone = known[3], 0
  for _, field in ipairs(cmsgpack.unpack(ARGV[a + 1])) do
    local generation = string.match(field, "^(%d+)|")
    local goes
    if generation then
      goes = tonumber(generation) <= acked
    elseif string.sub(field, 1, 2) == "w:" then
      local mark = redis.call("HGET", key, field)
      goes = mark and now - tonumber(string.match(mark, "%S+$")) > producer_life_ms
    end
    if goes then gone = gone + redis.call("HDEL", key, field) end
  end
  return struct.pack("<d", gone)
end
