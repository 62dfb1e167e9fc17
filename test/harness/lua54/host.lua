-- How a server with Lua 5.4 runs scripts, as Dragonfly does. They have `redis` and the libraries of libraries.lua, and may make
-- no global. There is no global `unpack`, and a first line `#!lua` is a syntax error.
-- A script runs as a coroutine: each command is yielded as RESP, and its reply comes back as RESP.
local coroutine, debug, load, rawset, pcall = coroutine, debug, load, rawset, pcall

-- redis -----------------------------------------------------------------------------------------------------------------
local function as_word(value)
  if math.type(value) == "integer" then return string.format("%d", value) end
  if type(value) == "number" then return string.format("%.17g", value) end
  if type(value) == "string" then return value end
  error("Lua redis() command arguments must be strings or integers", 0)
end

local function reply_of(resp, at)
  local ends = string.find(resp, "\r\n", at, true)
  local kind, line = string.sub(resp, at, at), string.sub(resp, at + 1, ends - 1)
  at = ends + 2
  if kind == ":" then return math.tointeger(line), at end
  if kind == "+" then return { ok = line }, at end
  if kind == "-" then return { err = line }, at end
  local count = math.tointeger(line)
  if count < 0 then return false, at end
  if kind == "$" then return string.sub(resp, at, at + count - 1), at + count + 2 end
  local list = {}
  for i = 1, count do list[i], at = reply_of(resp, at) end
  return list, at
end

local function command(...)
  local words = { ... }
  for i = 1, #words do
    local word = as_word(words[i])
    words[i] = "$" .. #word .. "\r\n" .. word .. "\r\n"
  end
  return (reply_of(coroutine.yield("*" .. #words .. "\r\n" .. table.concat(words)), 1))
end

redis = {
  -- The error is its text, as in Dragonfly. Redis raises a table.
  call = function(...)
    local reply = command(...)
    if type(reply) == "table" and reply.err then error(reply.err, 0) end
    return reply
  end,
  pcall = function(...)
    return command(...)
  end,
  error_reply = function(text)
    return { err = text }
  end,
}

local function resp_of(value)
  local kind = math.type(value) or type(value)
  if kind == "string" then return "$" .. #value .. "\r\n" .. value .. "\r\n" end
  if kind == "integer" then return ":" .. value .. "\r\n" end
  -- As text, as in Dragonfly. Redis cuts it to an integer.
  if kind == "float" then return resp_of(string.format("%.17g", value)) end
  if kind == "boolean" then return value and ":1\r\n" or "$-1\r\n" end
  if kind ~= "table" then return "$-1\r\n" end
  if value.err then return "-" .. value.err .. "\r\n" end
  if value.ok then return "+" .. value.ok .. "\r\n" end
  local parts = { "*" .. #value .. "\r\n" }
  for i = 1, #value do parts[i + 1] = resp_of(value[i]) end
  return table.concat(parts)
end

-- Scripts -----------------------------------------------------------------------------------------------------------------
local functions = {}

local function function_of(text)
  if not functions[text] then
    local make, why = load("return function()\n" .. text .. "\nend", "@user_script", "t")
    if not make then return nil, why end
    functions[text] = make()
  end
  return functions[text]
end

--- The error of a script's text, or the empty text.
function compile(text)
  local script, why = function_of(text)
  return script and "" or why
end

--- Runs a script: its text, the number of keys, the keys and the arguments. Returns its reply.
function run(text, count, ...)
  local words, script = { ... }, function_of(text)
  count = math.tointeger(count)
  rawset(_G, "KEYS", table.move(words, 1, count, 1, {}))
  rawset(_G, "ARGV", table.move(words, count + 1, #words, 1, {}))
  local ok, reply = pcall(script)
  return ok and resp_of(reply) or "-ERR Error running script: " .. tostring(reply) .. "\r\n"
end

setmetatable(_G, {
  __newindex = function(_, name)
    error("Script attempted to create global variable '" .. tostring(name) .. "'", 2)
  end,
  __index = function(_, name)
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
  end,
})
for _, name in ipairs({ "coroutine", "debug", "io", "os", "package", "require", "utf8", "dofile", "loadfile" }) do
  rawset(_G, name, nil)
end
