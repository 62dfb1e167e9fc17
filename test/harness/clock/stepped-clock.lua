-- The clock of tests: `now` is the first argument. Keys expire by it too: a test's clock runs ahead of the server's.
local now = tonumber(ARGV[1])
local first_argument = 2
for _, key in ipairs(KEYS) do
  local at = redis.call("PEXPIRETIME", key)
  if at >= 0 and at < now then redis.call("DEL", key) end
end
