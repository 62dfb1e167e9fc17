-- Takes the expiry away. It is the first write of a step after which the shard is not empty.
local function keep(times, messages)
  redis.call("PERSIST", times)
  redis.call("PERSIST", messages)
end
