-- The token of who holds `lock`, and when that ends (ms, -1: never); nil when it is free. Text, and no function, as it
-- is in every step.
  local holder, expiry = redis.call("GET", lock), nil
  if holder then
    expiry = redis.call("PEXPIRETIME", lock)
    if expiry >= 0 and expiry < now then holder, expiry = nil, nil end
  end
