#!lua flags=allow-oom
-- Starts a new generation because the shard does not fit a ledger that was read before. Later counts are then certainly in
-- no table. A repeated call with the same ledger changes nothing.
-- A script: a count goes into one generation or into the next, and the first later generation is stored.
-- KEYS  the shard
--       It grows by a few fields. A repair begins with this step, so it runs even if memory is full.
-- ARGV  layout · the ledger that was read, <generation> " " <nonce>
-- Reply PARTED
-- Errors MISMATCH, CORRUPT
-- Cost  O(1)
-- @include counter/shard
local keys_per_step = 1
local arguments_per_step = 2
local function step(k, a, now)
  local key, layout, ledger = KEYS[k], ARGV[a], ARGV[a + 1]
  local known, refused = open_shard(key, layout, false, "@pure")
  if refused then return refused end
  if not known[1] then return struct.pack(PARTED, 0) end
  local pure, of = string.match(known[5] or "", "^(%d+) (.*)$")
  if pure and of == ledger then return struct.pack(PARTED, tonumber(pure)) end
  local current = known[2]
  if redis.call("HEXISTS", key, "@n:" .. text_of(current)) == 1 then
    current = current + 1
    redis.call("HSET", key, "@cur", text_of(current))
  end
  redis.call("HSET", key, "@pure", text_of(current) .. " " .. ledger)
  return struct.pack(PARTED, current)
end
