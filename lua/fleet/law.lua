-- @include store/spread
-- The buckets of a fleet: one key, which expires when no bucket can be in any window.
--   hash  @layout   format, number of buckets, their length, maximum names; all processes must agree
--         @names    MessagePack, an array of names in order of arrival; a name's number is its position, 0: all others
--         @senders  a SENDER for each, the latest sender at the end
--         n|s       of name n, the BUCKET in slot s = start / length mod count
-- @include layouts/fleet

-- Whether a bucket is valid. The same check is in src/metrics/fleet/bucket.ts.
local function is_sound(bucket)
  if #bucket ~= BUCKET_BYTES then return false end
  local start, allowed, denied, success, failure, sum, smallest, largest = struct.unpack(BUCKET, bucket)
  return start >= 0 and start <= LATEST_MS and allowed + denied + success + failure + sum < math.huge
    and math.min(allowed, denied, success, failure, sum) >= 0 and smallest == smallest and largest == largest
end

local function mismatch(own, layout)
  if own and not string.match(own, "^%d+|%d+|%d+|%d+$") then return refuse("CORRUPT", "it has no layout of a fleet") end
  if own and own ~= layout then return refuse("MISMATCH", "the fleet's layout (format|buckets|bucket ms|metrics) is " .. own .. ", not " .. layout .. ": use those options, or another name") end
end
