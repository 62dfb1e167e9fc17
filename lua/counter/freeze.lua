#!lua flags=allow-oom
-- Ends the generation that is being filled, where it holds anything and none is frozen already; tells of the frozen one.
-- A script: what is counted goes into one generation or the next. Asked again, it tells of the same one.
-- KEYS  the shard
--       It grows by two fields, and is what comes before all freeing: so it runs where memory is full.
-- ARGV  layout · nonce for a generation that is frozen now; the server's clock goes on it, so that a late copy of the call,
--       to a server that lost what the first one did, makes another one
-- Reply f64 last generation acknowledged · f64 frozen one, 0: none · then, text: nonce, " ", its sum
-- Errors CLASH
-- Cost  O(1)
-- @include counter/shard
local keys_per_step = 1
local arguments_per_step = 2
local function step(k, a, now)
  local key, layout, nonce = KEYS[k], ARGV[a], ARGV[a + 1]
  local known, refused = open_shard(key, layout)
  if refused then return refused end
  local current, acked = known[2], known[3]
  local next_one = text_of(acked + 1)
  local sum = redis.call("HGET", key, "@n:" .. next_one)
  if current == acked + 1 then
    if not sum then return struct.pack("<dd", acked, 0) end
    nonce = nonce .. "-" .. text_of(now)
    redis.call("HSET", key, "@x:" .. next_one, nonce, "@cur", text_of(current + 1))
  else
    nonce = redis.call("HGET", key, "@x:" .. next_one)
    -- Written as it is: who waits for replicas waits for what its connection wrote, and this one may be new.
    redis.call("HSET", key, "@x:" .. next_one, nonce)
  end
  return struct.pack("<dd", acked, acked + 1) .. nonce .. " " .. sum
end
