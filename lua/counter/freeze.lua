#!lua flags=allow-oom
-- Freezes the current generation if it has counts, unless an earlier one is frozen. Returns the earliest frozen one.
-- A script: a count goes into one generation or into the next. A repeated call returns the same generation.
-- KEYS  the shard
--       It grows by two fields. A drain frees memory only after this step, so it runs even if memory is full.
-- ARGV  layout · nonce for a generation that has none. The server's time and the shard's @born are appended, so that a late
--       copy of the call, on a server that lost the first one, makes another nonce
-- Reply FROZEN · text: nonce, " ", its sum
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
  if current == acked + 1 and not sum then return struct.pack(FROZEN, acked + base, 0) end
  if not sum or not string.find(sum, "^%d+$") then
    return refuse("CORRUPT", "the value of the key \"" .. key .. "\" is damaged: its field @n:" .. next_one .. " is not a whole number")
  end
  -- An existing nonce is written unchanged: WAIT covers only writes of its own connection, and this one may be new.
  if current == acked + 1 or not found[2] then
    nonce = nonce .. "-" .. text_of(now) .. (born and "-b" .. born or "")
  else
    nonce = found[2]
  end
  redis.call("HSET", key, "@x:" .. next_one, nonce)
  if current == acked + 1 then redis.call("HSET", key, "@cur", text_of(current + 1)) end
  return struct.pack(FROZEN, acked + base, acked + 1 + base) .. nonce .. " " .. sum
end
