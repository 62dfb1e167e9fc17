-- Appends to a reply of read or append the closed chunks of a window (see closed-chunks): raw ones whole, of sealed ones the outline.
-- The bytes of a sealed chunk end at its blocks. If no raw chunk after it can have copies of its frames, and it lies wholly inside
-- the window, they end at its totals, or without percentiles at its heads. If it lies wholly outside, they end at its heads.
-- `query`: OUTLINE_QUERY, which begins as a lookback.
-- @include journal/closed-chunks
local function with_outlines(reply, key, now, query)
  local to, dated, both, percentiles = struct.unpack(OUTLINE_QUERY, query)
  local function outline(closed, from, present, raw_created)
    local head = redis.call("GETRANGE", closed, 0, CHUNK_BYTES + SEALED_BYTES - 1)
    if string.byte(head) ~= SEALED_FORMAT or #head < CHUNK_BYTES + SEALED_BYTES then return nil end
    local last = struct.unpack(CHUNK, head)
    local totals_place, blocks_place, earliest, latest = struct.unpack(SEALED, head, CHUNK_BYTES + 1)
    -- An empty chunk has no times (from +inf to -inf), and is inside every window.
    local till = dated == 1 and to or present
    local is_inside = latest <= till and (earliest > from or (both == 1 and earliest == from))
    local is_outside = earliest > till or latest < from
    local wanted = blocks_place
    if (is_inside or is_outside) and last <= raw_created - DEDUPE_MS then
      if percentiles == 0 or is_outside then return head end
      wanted = totals_place
    end
    return redis.call("GETRANGE", closed, 0, wanted - 1)
  end
  return with_closed_chunks(reply, key, now, query, outline)
end
