-- @include limiter/state
-- Funnel and GCRA: a level that rises by a call's permits and falls by `rate` permits in `span` ms, at most `limit`.
-- It is counted in permits / span, so that it falls by `rate` a ms: whole numbers, nothing is rounded.
-- State: the head · 24 f64 at · 32 f64 level · 40 f64 span
kinds[3] = {
  look = function(p, now)
    local text = redis.call("GET", p.key) or ""
    head_of(p, text)
    p.at, p.level = now, 0
    if p.there then
      local at, level, span = struct.unpack("<ddd", text, 25)
      if span ~= p.span then level = math.ceil(level / span * p.span) end
      p.at = math.max(now, at)
      p.level = math.max(0, level - (p.at - at) * p.rate)
    end
    p.used = p.level
    p.free = math.floor((p.limit * p.span - p.level) / p.span)
  end,
  wait = function(p, permits, now)
    if permits > p.limit then return math.huge end
    return math.ceil((p.level + (permits - p.limit) * p.span) / p.rate) + p.at - now
  end,
  reset = function(p, now)
    return p.level > 0 and math.ceil(p.level / p.rate) + p.at - now or 0
  end,
  put = function(p, calls, cost, now)
    p.level = math.min(p.level + calls * cost * p.span, most_level)
    kinds[3].write(p, now)
  end,
  back = function(p, permits, now)
    p.level = math.max(0, p.level - permits * p.span)
    kinds[3].write(p, now)
  end,
  write = function(p, now)
    p.used = p.level
    local ends = p.level > 0 and p.at + math.ceil(p.level / p.rate) or 0
    keep(p, head_bytes(p) .. struct.pack("<ddd", p.at, p.level, p.span), ends, now)
  end,
}
