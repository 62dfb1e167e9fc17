#!lua flags=allow-oom
-- Records that a frozen generation is in the table. Its counts no longer count in this shard.
-- A script: the nonce is compared and @ack is moved in one step. counter/sweep deletes the fields later. An interrupted
-- sweep leaves fields that no longer count.
-- KEYS  the shard
-- ARGV  layout · generation, its number in the ledger · its nonce
-- Reply STATUS, u8. Done: acknowledged, now or before. Refused: it is not the frozen one, or has another nonce
-- Errors MISMATCH, CORRUPT
-- Cost  O(1), if no batch was sent again
-- @include counter/shard
local keys_per_step = 1
local arguments_per_step = 3
local function step(k, a, now)
  local key, layout, generation, nonce = KEYS[k], ARGV[a], tonumber(ARGV[a + 1]), ARGV[a + 2]
  local known, refused = open_shard(key, layout, false, "@again")
  if refused then return refused end
  local current, acked, again = known[2], known[3], known[5]
  generation = generation - known[4]
  local number = text_of(generation)
  if acked >= generation then return STATUS_DONE_BYTE end
  local has_nonce = redis.call("HGET", key, "@x:" .. number) == nonce
  if generation ~= acked + 1 or current == generation or not has_nonce then return STATUS_REFUSED_BYTE end
  redis.call("HSET", key, "@ack", number)
  redis.call("HDEL", key, "@x:" .. number, "@n:" .. number, "@pure")
  if again then
    local left = {}
    for name, of in string.gmatch(again, "(r(%d+)|[^ ]*) ") do
      if tonumber(of) <= generation then redis.call("HDEL", key, name) else left[#left + 1] = name .. " " end
    end
    if #left == 0 then redis.call("HDEL", key, "@again") else redis.call("HSET", key, "@again", table.concat(left)) end
  end
  return STATUS_DONE_BYTE
end
