#!lua flags=allow-oom
-- Says that a frozen generation is safely elsewhere: from then on it counts here no more.
-- A script: the nonce is compared and the mark moved in one step. Its fields are then deleted by counter/sweep: a sweep
-- that was cut short leaves fields that count nowhere.
-- KEYS  the shard
-- ARGV  layout · generation · its nonce
-- Reply u8 status (0 acknowledged, now or before; 1 it is not the frozen one, or has another nonce)
-- Errors CLASH
-- Cost  O(1)
-- @include counter/shard
local keys_per_step = 1
local arguments_per_step = 3
local function step(k, a, now)
  local key, layout, generation, nonce = KEYS[k], ARGV[a], tonumber(ARGV[a + 1]), ARGV[a + 2]
  local number = text_of(generation)
  local known, refused = open_shard(key, layout, "@x:" .. number)
  if refused then return refused end
  local current, acked, told = known[2], known[3], known[4]
  if acked >= generation then return struct.pack("<B", 0) end
  if generation ~= acked + 1 or current == generation or told ~= nonce then return struct.pack("<B", 1) end
  redis.call("HSET", key, "@ack", number)
  redis.call("HDEL", key, "@x:" .. number, "@n:" .. number)
  return struct.pack("<B", 0)
end
