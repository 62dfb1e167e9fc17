-- @include queue/keep
-- Writes the layout into a shard, or returns why it is refused. An equal one is written again, because WAIT covers only the
-- writes of its own connection.
local function agree(times, messages, layout)
  local refused = mismatch(messages, redis.call("HGET", messages, "@layout"), layout)
  if refused then return refused end
  keep(times, messages)
  redis.call("ZADD", times, "+inf", "")
  redis.call("HSET", messages, "@layout", layout)
end
