-- Lets the permits of a token last at least until `ends`. `count`: permits in use before. Included as text, not as a function,
-- because both steps need it.
  local text = string.format("%.0f", ends)
  for number in string.gmatch(numbers, "%d+") do
    call("ZADD", key, "GT", text, token .. "_" .. number)
  end
  if count == 0 then call("PEXPIREAT", key, text) else call("PEXPIREAT", key, text, "GT") end
