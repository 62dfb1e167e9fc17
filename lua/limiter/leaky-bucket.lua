-- @include limiter/state
-- Leaky bucket and GCRA: a level of at most `limit` permits, which rises by a call's cost and falls by `rate` permits in
-- `span` ms. Its unit is permits / span, so it falls by `rate` each ms. All numbers are integers, without rounding.
-- State: LEAKY_STATE
local function level_of(at, level, of_span, span, rate, now)
  if of_span ~= span then
    level = math.floor(level / of_span) * span + math.ceil(level % of_span * span / of_span)
  end
  if now <= at then return at, level end
  local left = level - (now - at) * rate
  return now, left > 0 and left or 0
end

kinds[KIND_LEAKY] = {
  quick = function(key, calls, cost, limit, span, rate, _, now)
    local text = redis.pcall("GET", key)
    local at, level = now, 0
    if text then
      if #text ~= LEAKY_STATE_BYTES then return end
      local format_and_kind, blocked, holds, of_span
      format_and_kind, blocked, holds, at, level, of_span = struct.unpack(LEAKY_STATE, text)
      if format_and_kind ~= FORMAT_AND_KIND_LEAKY or blocked ~= 0 or holds ~= 0 or at % 1 + level % 1 ~= 0
        or at < 0 or at > MAX_NUMBER or level < 0 or level > MAX_NUMBER
        or of_span ~= span and (of_span == 0 or not is_whole(of_span)) then
        return
      end
      at, level = level_of(at, level, of_span, span, rate, now)
    end
    local passes = passes_of(calls, math.floor((limit * span - level) / span) / cost)
    if passes == 0 and (level == 0 or redis.call("PTTL", key) == -1) then return end
    level = level + passes * cost * span
    local wait, ends = 0, at + math.ceil(level / rate)
    if passes > 0 then
      redis.call("SET", key, struct.pack(LEAKY_STATE, FORMAT_AND_KIND_LEAKY, 0, 0, at, level, span), "PXAT", text_of(ends))
    end
    if passes < calls then
      wait = cost > limit and math.huge or math.ceil((level + (cost - limit) * span) / rate) + at - now
    end
    return passes, level, wait, ends - now
  end,
  look = function(p, now)
    local text = redis.pcall("GET", p.key)
    head_of(p, text, LEAKY_STATE_BYTES, now)
    p.at, p.level = now, 0
    if p.there then
      local at, level, of_span = struct.unpack(LEAKY_BUCKET, text, STATE_HEAD_BYTES + 1)
      local are_whole = is_whole(at) and is_whole(level) and is_whole(of_span)
      if #text ~= LEAKY_STATE_BYTES or not are_whole or of_span == 0 then
        damaged(p.key, "it is not the level of a bucket")
      end
      p.at, p.level = level_of(at, level, of_span, p.span, p.rate, now)
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
    p.level = math.min(p.level + calls * cost * p.span, MAX_LEVEL)
    kinds[KIND_LEAKY].write(p, now)
  end,
  back = function(p, permits, now)
    p.level = math.max(0, p.level - permits * p.span)
    kinds[KIND_LEAKY].write(p, now)
  end,
  write = function(p, now)
    p.used = p.level
    local ends = p.level > 0 and p.at + math.ceil(p.level / p.rate) or 0
    keep(p, head_bytes(p) .. struct.pack(LEAKY_BUCKET, p.at, p.level, p.span), ends, now)
  end,
}
