#!lua flags=allow-oom
-- Renames a shard's key. Nothing is deleted, and the next step starts an empty shard.
-- A script: the key is renamed only if it has the observed state.
-- KEYS  1 the shard · 2 the other name, in its slot
-- ARGV  the observed state: its type, " ", @layout, " ", @born ("-": none)
-- Reply STATUS, u8. Refused: the state is another one, or the other name exists
-- Cost  O(1)
-- @include layouts/counter
local keys_per_step = 2
local arguments_per_step = 1
local function step(k, a, now)
  local key, aside, seen = KEYS[k], KEYS[k + 1], ARGV[a]
  local kind = redis.call("TYPE", key)
  kind = kind.ok or kind
  local known = kind == "hash" and redis.call("HMGET", key, "@layout", "@born") or {}
  if kind .. " " .. (known[1] or "-") .. " " .. (known[2] or "-") ~= seen then return STATUS_REFUSED_BYTE end
  if kind == "none" or redis.call("EXISTS", aside) == 1 then return STATUS_REFUSED_BYTE end
  redis.call("RENAME", key, aside)
  return STATUS_DONE_BYTE
end
