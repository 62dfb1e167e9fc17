-- @include limiter/fixed-window
-- Calendar window: at most `limit` permits from its begin to its end. The caller sends both (`span`, `rate`), by its rules of
-- the time zone, and asks again if the time lies outside of them.
-- A window that has begun keeps its edges until its end, whatever others send. So processes with other rules of the zone share
-- it. Its state stays a while longer: if edges begin before the middle of a window that has ended, their caller has rules by
-- which it goes on, and its permits still count. Another calendar takes effect at once, with the permits of a window that
-- began within the new one.
-- State: CALENDAR_STATE
local fixed = kinds[KIND_FIXED]
kinds[KIND_CALENDAR] = {
  quick = function() end,
  look = function(p, now)
    if now < p.span or now >= p.rate then return true end
    local text = redis.pcall("GET", p.key)
    head_of(p, text, CALENDAR_STATE_BYTES, now)
    p.start, p.ends = p.span, p.rate
    if p.there then
      local start, ends, used, calendar = struct.unpack(CALENDAR_WINDOW, text, STATE_HEAD_BYTES + 1)
      if #text ~= CALENDAR_STATE_BYTES or not is_whole(start) or not is_whole(used) or ends % 60000 ~= 0
        or ends <= start or ends > MAX_EDGE_MS then
        damaged(p.key, "it is not a calendar window")
      end
      local is_same = calendar == p.calendar
      if is_same and now < ends then p.start, p.ends = start, ends
      elseif is_same and 2 * p.span >= start + ends or not is_same and start < p.span then used = 0 end
      p.used = used
    end
    -- When a key that has lost its expiry expires.
    p.newest, p.longest = p.ends, ENDED_LIFE_MS
    p.free = p.limit - p.used
  end,
  wait = fixed.wait, reset = fixed.reset, put = fixed.put,
  back = function(p, permits, now)
    if p.there then fixed.back(p, permits, now) end
  end,
  write = function(p, now)
    local window = struct.pack(CALENDAR_WINDOW, p.start, p.ends, p.used, p.calendar)
    keep(p, head_bytes(p) .. window, p.ends + ENDED_LIFE_MS, now)
  end,
}
