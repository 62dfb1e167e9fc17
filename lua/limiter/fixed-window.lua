-- @include limiter/state
-- Fixed window: at most `limit` permits from its start to start + span. It starts with its first call or, if aligned, at a
-- multiple of span since 1970. State: FIXED_STATE
local function window_of(there, start, used, span, is_aligned, now)
  if not there then start, used = -math.huge, 0 end
  local at, first = now > start and now or start, now
  if is_aligned then
    first = at - at % span
    return math.max(start, first), start >= first and used or 0, first + span
  end
  if used > 0 and start + span > at then return start, used, start + span end
  return now, 0, now + span
end

kinds[KIND_FIXED] = {
  quick = function(key, calls, cost, limit, span, _, is_aligned, now)
    local text = redis.pcall("GET", key)
    local start, used, ends
    if text then
      if #text ~= FIXED_STATE_BYTES then return end
      local format_and_kind, blocked, holds
      format_and_kind, blocked, holds, start, used = struct.unpack(FIXED_STATE, text)
      if format_and_kind ~= FORMAT_AND_KIND_FIXED or blocked ~= 0 or holds ~= 0 or start % 1 + used % 1 ~= 0
        or start < 0 or start > MAX_NUMBER or used < 0 or used > MAX_NUMBER then
        return
      end
    end
    start, used, ends = window_of(text, start, used, span, is_aligned, now)
    local passes = passes_of(calls, (limit - used) / cost)
    if passes == 0 then
      if used == 0 or redis.call("PTTL", key) == -1 then return end
    else
      used = used + passes * cost
      redis.call("SET", key, struct.pack(FIXED_STATE, FORMAT_AND_KIND_FIXED, 0, 0, start, used), "PXAT", text_of(ends))
    end
    return passes, used, passes < calls and (cost > limit and math.huge or ends - now) or 0, ends - now
  end,
  look = function(p, now)
    local text = redis.pcall("GET", p.key)
    head_of(p, text, FIXED_STATE_BYTES, now)
    local start, used
    if p.there then
      start, used = struct.unpack(FIXED_WINDOW, text, STATE_HEAD_BYTES + 1)
      if #text ~= FIXED_STATE_BYTES or not is_whole(start) or not is_whole(used) then
        damaged(p.key, "it is not a fixed window")
      end
    end
    p.start, p.used, p.ends = window_of(p.there, start, used, p.span, p.is_aligned, now)
    p.free = p.limit - p.used
  end,
  wait = function(p, permits, now)
    return permits > p.limit and math.huge or p.ends - now
  end,
  reset = function(p, now)
    return p.used > 0 and p.ends - now or 0
  end,
  put = function(p, calls, cost, now)
    p.used = math.min(p.used + calls * cost, MAX_LEVEL)
    kinds[p.kind].write(p, now)
  end,
  back = function(p, permits, now)
    p.used = math.max(0, p.used - permits)
    kinds[p.kind].write(p, now)
  end,
  write = function(p, now)
    keep(p, head_bytes(p) .. struct.pack(FIXED_WINDOW, p.start, p.used), p.used > 0 and p.ends or 0, now)
  end,
}
