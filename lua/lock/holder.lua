-- The token of the lock's holder and the end of its lease (ms, -1: never); nil if the lock is free. Included as text, not
-- as a function, because every step needs it.
  local holder, expiry = redis.call("GET", lock), nil
  if holder then
    expiry = redis.call("PEXPIRETIME", lock)
    if expiry >= 0 and expiry < now then holder, expiry = nil, nil end
  end
