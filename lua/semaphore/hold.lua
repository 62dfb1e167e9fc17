-- Lets the permits of a token last at least until `ends`. Included as text, not as a function, because both steps need it.
  local text = string.format("%.0f", ends)
  for number in string.gmatch(numbers, "%d+") do
    redis.call("ZADD", key, "GT", text, token .. "_" .. number)
  end
  if redis.call("PEXPIRETIME", key) < ends then redis.call("PEXPIREAT", key, text) end
