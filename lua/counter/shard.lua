-- A shard of a counter: one hash, which never expires and, once it is there, is never empty.
--   @layout        format, shards, finest bucket, time zone, dimensions; all who use it must agree
--   @cur           generation that is being filled; absent: 1
--   @ack           last generation that is safely elsewhere; absent: 0
--   @n:<gen>       sum of what was counted in a generation that is not
--   @x:<gen>       nonce that a generation got when it was frozen: no other one, here or in a copy, has it
--   w:<producer>   number of its last batch
--   s:<source>     last offset of a source that can be replayed, 32 hexadecimal digits
--   <gen>|<start>|<value>|<value>...   counts: start in minutes since 1970, values in the order of the dimensions
-- Whole numbers travel as text: a count may be beyond 2^53.
local GENERATIONS_AT = 2

-- Layout, generation being filled, last one acknowledged, and more fields that are asked for; or a refusal.
local function open_shard(key, layout, ...)
  local known = redis.call("HMGET", key, "@layout", "@cur", "@ack", ...)
  if known[1] and known[1] ~= layout then
    return nil, refuse("CLASH", "the counter's layout is " .. known[1] .. ", not " .. layout)
  end
  known[GENERATIONS_AT] = tonumber(known[GENERATIONS_AT] or "1")
  known[GENERATIONS_AT + 1] = tonumber(known[GENERATIONS_AT + 1] or "0")
  return known
end

local function text_of(generation)
  return string.format("%.0f", generation)
end
