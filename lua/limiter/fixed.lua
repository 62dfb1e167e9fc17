-- @include limiter/state
-- Fixed window: at most `limit` permits between its start and start + span. It starts with its first call or, aligned,
-- at a multiple of span since 1970. State: the head · 24 f64 start · 32 f64 used
kinds[1] = {
  look = function(p, now)
    local text = redis.call("GET", p.key) or ""
    head_of(p, text)
    local start, used = -math.huge, 0
    if p.there then start, used = struct.unpack("<dd", text, 25) end
    local at = math.max(now, start)
    local first = p.is_aligned and at - at % p.span or start + p.span > at and start or now
    p.used = start >= first and used or 0
    p.start, p.ends = p.is_aligned and math.max(start, first) or first, first + p.span
    p.free = p.limit - p.used
  end,
  wait = function(p, permits, now)
    return permits > p.limit and math.huge or p.ends - now
  end,
  reset = function(p, now)
    return p.used > 0 and p.ends - now or 0
  end,
  put = function(p, calls, cost, now)
    p.used = math.min(p.used + calls * cost, most_level)
    kinds[1].write(p, now)
  end,
  back = function(p, permits, now)
    p.used = math.max(0, p.used - permits)
    kinds[1].write(p, now)
  end,
  write = function(p, now)
    keep(p, head_bytes(p) .. struct.pack("<dd", p.start, p.used), p.used > 0 and p.ends or 0, now)
  end,
}
