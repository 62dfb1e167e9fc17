-- Refuses a caller while the lock is held by or reserved for another, and gives a waiting process a place in the queue.
-- Included as text. Uses lock, last, queue, token, id, now and call. Afterwards the caller has
-- `fence`, and has to write its hold. `holder` is its own token or nil.
-- Law   fence = max(last + 1, now in us), or the last one if the caller holds the lock already. It is the first write.
-- @include lock/holder
  local text = call("GET", queue)
  local reserved, noticed, places, is_as_read = 0, 0, ""
  local read_queue, write_queue, without, write_with, reserve_for_another, notify_next
  if text or (holder and holder ~= token) then
    read_queue, write_queue, without, write_with, reserve_for_another, notify_next = queue_functions()
    reserved, noticed, places, is_as_read = read_queue(queue, text, now)
    local retry_in
    if holder and holder ~= token then
      retry_in = expiry < 0 and FOREIGN_POLL_MS or expiry - now + 1
      if string.sub(holder, 1, 6) ~= "oriel:" then retry_in = math.min(retry_in, FOREIGN_POLL_MS) end
    elseif not holder then
      local kept = reserve_for_another(lock, queue, text, reserved, noticed, places, id, now)
      if kept and reserved < now then return struct.pack(ACQUIRED, STATUS_REFUSED, kept - now + 1) end
      retry_in = kept and kept - now + 1
    end
    if retry_in then
      if id ~= "" then write_with(queue, reserved, noticed, places, is_as_read, id, now) end
      return struct.pack(ACQUIRED, STATUS_REFUSED, retry_in)
    end
  end

  local before = call("GET", last)
  local fence = string.match(before or "0", "^%d+$") and tonumber(before or 0)
  if not fence or fence >= MAX_FENCE then
    return refuse("CORRUPT", 'the value of the key "' .. last .. '" is damaged: the last fence is not an integer below 2^53 - 1')
  end
  if not (holder and before) then
    local raised = math.max(fence + 1, now * 1000)
    local day = math.floor(raised / DAY_US)
    -- INCRBY changes the number in place and leaves the expiry: half the cost of SET. Lua writes numbers above 10^14 with
    -- an exponent.
    if before and math.floor(fence / DAY_US) == day then
      call("INCRBY", last, string.format("%.0f", raised - fence))
    else
      call("SET", last, string.format("%.0f", raised), "PXAT", string.format("%.0f", (day + 1) * DAY_MS + FENCE_LIFE_MS))
    end
    fence = raised
  end
