-- For steps that find keys which are not declared: those of a series' closed chunks expire by the test's clock, too.
for _, key in ipairs(KEYS) do
  for _, found in ipairs(redis.call("KEYS", string.gsub(key, "[%*%?%[%]\\]", "\\%0") .. ":*")) do
    local at = redis.call("PEXPIRETIME", found)
    if at >= 0 and at < now then redis.call("DEL", found) end
  end
end
