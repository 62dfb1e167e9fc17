-- @include layouts/journal
-- @include journal/chunk
-- Joins strings, 16 in one expression: Lua copies them twice for it, however many they are. table.concat joins a few at a time, and
-- copies the same bytes again and again.
local function joined(p)
  while #p > 1 do
    local longer = {}
    for i = 1, #p, 16 do
      for j = #p + 1, i + 15 do p[j] = "" end
      longer[#longer + 1] = p[i] .. p[i + 1] .. p[i + 2] .. p[i + 3] .. p[i + 4] .. p[i + 5] .. p[i + 6] .. p[i + 7]
        .. p[i + 8] .. p[i + 9] .. p[i + 10] .. p[i + 11] .. p[i + 12] .. p[i + 13] .. p[i + 14] .. p[i + 15]
    end
    p = longer
  end
  return p[1]
end

-- Appends to a reply of read or append the closed chunks that a window needs, as far as they are found, so that a process
-- without a copy needs one request.
--   0 u32 bytes of the reply · 4 the reply · and if its status is 0 and there is a chunk: u32 1 if the next chunk
--   does not exist, else 0 · u32 number of chunks · their sizes in bytes, u32 each · the chunks, newest first
-- `lookback`: f64 span, ms · f64 from, ms · u32 maximum bytes. The window begins at `from`, or `span` before the series'
-- present, whichever is earlier. At most the maximum of bytes is read, including the open chunk.
-- These keys are not declared, because the open chunk has their numbers. All lie in its slot. A missing chunk may be on another
-- node, and a server may refuse undeclared keys. Then the walk ends, and the reader requests the rest by name. The reader
-- accepts a chunk only if its birth is the one that the next chunk names. This step writes nothing.
-- `part_of`, if given, returns the part of a chunk that is wanted: part_of(key, from, present, creation of the next raw chunk).
-- ARGV[0] is there if the script is sent with Upstash's flag `allow-key-locking`, which forbids undeclared keys
-- (src/store/http/ascii.ts). Then no chunk is looked for.
local function with_closed_chunks(reply, key, now, lookback, part_of)
  local size, sizes, chunks = struct.pack(SIZED, #reply), {}, {}
  local length = struct.unpack(ANSWER, reply)
  if string.byte(reply) ~= 0 or length == 0 then return size .. reply end
  local span, from, max_bytes = struct.unpack(LOOKBACK, lookback)
  local clock_and_guard, number, created, birth_before, last, latest = struct.unpack(CHUNK, reply, ANSWER_BYTES + 1)
  local clock = clock_of(clock_and_guard)
  local present = clock == 1 and latest or math.max(now, last)
  from = math.min(from, present - span)
  local missing, raw_created = 0, created
  while not ARGV[0] and birth_before ~= 0 and (clock == 1 and latest or created + EARLY_MS) >= from - DEDUPE_MS
    and #chunks < (part_of and MAX_OUTLINES or MAX_CLOSED_CHUNKS) do
    number = number - 1
    local closed = key .. ":" .. whole(number)
    local bytes = redis.pcall("STRLEN", closed)
    if type(bytes) ~= "number" then break end
    if bytes == 0 then missing = 1 break end
    local chunk = part_of and part_of(closed, from, present, raw_created)
    if chunk then bytes = #chunk end
    length = length + bytes
    if bytes < CHUNK_BYTES or length > max_bytes then break end
    chunk = chunk or redis.call("GET", closed)
    sizes[#sizes + 1] = struct.pack("<I4", bytes)
    chunks[#chunks + 1] = chunk
    created, birth_before, latest = struct.unpack(CHUNK, chunk)
    if string.byte(chunk) == FORMAT then raw_created = created end
  end
  table.insert(chunks, 1, size .. reply .. struct.pack(CLOSED_CHUNKS, missing, #chunks) .. table.concat(sizes))
  return joined(chunks)
end
