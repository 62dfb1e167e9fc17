-- @include limiter/fixed-window
-- Calendar window: at most `limit` permits from its begin to its end. The caller sends both (`span`, `rate`), by its rules of
-- the time zone, and asks again if the time lies outside of them.
-- Law   A window that has begun keeps its end, whatever others send. Permits taken since the begin of the caller's window count
--       until that one ends, too. So a changed time zone, or processes with other rules of one, give no second quota.
--       The state knows the permits since one edge beside its begin: the last that a caller named who has another end. Of an earlier
--       edge, all permits are taken for later ones, unless the last was taken before it.
--       Another calendar takes effect at once, with the permits of a window that began within the new one.
-- State: CALENDAR_STATE
local fixed = kinds[KIND_FIXED]

-- The permits since an edge.
local function late_of(edge, known, used, late, last)
  return edge > last and 0 or edge >= known and late or used
end

-- When all permits have ended.
local function end_of(p)
  return p.late > 0 and math.max(p.kept, p.rate) or p.kept
end

-- When no window of any zone can hold the permits any more. No window is an eighth longer than the one before, and a day is more
-- than zones differ by.
local function forgotten_at(p)
  return math.max(p.ends, p.last + (p.rate - p.span) * 9 / 8) + ENDED_LIFE_MS
end

kinds[KIND_CALENDAR] = {
  quick = function() end,
  look = function(p, now)
    if now < p.span or now >= p.rate then return true end
    local text = redis.pcall("GET", p.key)
    head_of(p, text, CALENDAR_STATE_BYTES, now)
    p.start, p.edge, p.kept, p.used, p.late, p.last = p.span, p.span, p.rate, 0, 0, 0
    if p.there then
      local edge, ends, used, late, last, calendar = struct.unpack(CALENDAR_WINDOW, text, STATE_HEAD_BYTES + 1)
      if #text ~= CALENDAR_STATE_BYTES or not is_whole(edge) or not is_whole(used) or not is_whole(late)
        or not is_whole(last) or ends % 60000 ~= 0 or ends <= edge or ends > MAX_EDGE_MS then
        damaged(p.key, "it is not a calendar window")
      end
      p.last = last
      if calendar ~= p.calendar then
        if edge >= p.span then p.used, p.late = used, used end
      elseif now >= ends then
        p.used, p.edge = late_of(p.span, edge, used, late, last), math.max(p.span, ends)
      else
        p.start, p.edge, p.kept, p.used, p.late = 0, edge, ends, used, late
        if p.rate ~= ends then
          p.edge = p.rate < ends and p.rate or p.span
          p.late = late_of(p.edge, edge, used, late, last)
        end
      end
    end
    p.ends = end_of(p)
    -- When a key that has lost its expiry expires.
    p.newest, p.longest = forgotten_at(p), 0
    p.free = p.limit - p.used
  end,
  wait = function(p, permits, now)
    if permits > p.limit then return math.huge end
    return (p.late + permits > p.limit and p.ends or p.kept) - now
  end,
  reset = fixed.reset,
  put = function(p, calls, cost, now)
    if now >= p.edge then p.late = math.min(p.late + calls * cost, MAX_LEVEL) end
    p.last, p.ends = math.max(p.last, now), end_of(p)
    fixed.put(p, calls, cost, now)
  end,
  back = function(p, permits, now)
    if not p.there then return end
    p.late = math.max(0, p.late - permits)
    p.ends = end_of(p)
    fixed.back(p, permits, now)
  end,
  write = function(p, now)
    local window = struct.pack(CALENDAR_WINDOW, p.edge, p.kept, p.used, p.late, p.last, p.calendar)
    keep(p, head_bytes(p) .. window, forgotten_at(p), now)
  end,
}
