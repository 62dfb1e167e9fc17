#!lua flags=allow-oom
-- Ends the generation that is being filled, where it holds anything and none is ended already; gives the first that ended.
-- A script: what is counted goes into one generation or the next. Asked again, it gives the same one.
-- KEYS  the shard
--       It grows by two fields, and is what comes before all freeing: so it runs where memory is full.
-- ARGV  layout · nonce for a generation that has none; the server's clock and when the shard was made go on it, so that a
--       late copy of the call, to a server that lost what the first one did, makes another one
-- Reply f64 last generation acknowledged · f64 frozen one, 0: none, as the ledger counts them · then, text: nonce, " ", its sum
-- Errors MISMATCH, CORRUPT
-- Cost  O(1)
-- @include counter/shard
local keys_per_step = 1
local arguments_per_step = 2
local function step(k, a, now)
  local key, layout, nonce = KEYS[k], ARGV[a], ARGV[a + 1]
  local known, refused = open_shard(key, layout, false, "@born")
  if refused then return refused end
  local current, acked, base, born = known[2], known[3], known[4], known[5]
  local next_one = text_of(acked + 1)
  local found = redis.call("HMGET", key, "@n:" .. next_one, "@x:" .. next_one)
  local sum = found[1]
  if current == acked + 1 and not sum then return struct.pack("<dd", acked + base, 0) end
  if not sum or not string.find(sum, "^%d+$") then
    return refuse("CORRUPT", "the value of the key \"" .. key .. "\" is damaged: its field @n:" .. next_one .. " is not a whole number")
  end
  -- Written as it is, where it is there: who waits for replicas waits for what its connection wrote, and this one may be new.
  if current == acked + 1 or not found[2] then
    nonce = nonce .. "-" .. text_of(now) .. (born and "-b" .. born or "")
  else
    nonce = found[2]
  end
  redis.call("HSET", key, "@x:" .. next_one, nonce)
  if current == acked + 1 then redis.call("HSET", key, "@cur", text_of(current + 1)) end
  return struct.pack("<dd", acked + base, acked + 1 + base) .. nonce .. " " .. sum
end
