import { PRELUDE } from "./valkey-prelude.ts";

/** ARGV: candidate content ID. Returns the content's ID, its age in ms and the server's run ID (empty if unavailable). */
export const AGE = `
local t, told, info = redis.call('TIME'), pcall(redis.call, 'INFO', 'server')
local server = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
for name, value in pairs({ name = ARGV[1], at = string.format('%.0f', server) }) do redis.call('HSETNX', KEYS[1] .. 'content', name, value) end
local content = redis.call('HMGET', KEYS[1] .. 'content', 'name', 'at')
return { content[1], string.format('%.0f', server - tonumber(content[2])), told and string.match(info, 'run_id:(%w+)') or '' }
`;

/** Shared by the scripts that part with or settle a reservation. */
const PARTING = `
-- '1': it holds; what it parted with; false: it is not known.
local function stateOf(id, p, results)
  local state = redis.call('GET', P .. 'r:' .. id)
  if state ~= 'p' then return state end
  -- Held again after the store was emptied: its row will say from now on what else is only known here.
  for _, w in ipairs(p.w) do
    local once = w.m == 'requests' and 1 or (w.m == 'tool_calls' and results or 0)
    if once > 0 then redis.call('DECRBY', P .. 'p:' .. w.k, whole(once)) end
  end
  return '1'
end
local function parted(id, used) redis.call('SET', P .. 'r:' .. id, cjson.encode(used), 'KEEPTTL') end
local function release(key, amount)
  local left = tonumber(redis.call('HGET', key, owner) or '0') - amount
  if left > 0 then redis.call('HSET', key, owner, whole(left)) else redis.call('HDEL', key, owner) end
end
`;

/** `given`: amounts that are released in the same step, by window key. */
const TAKE = `
local now = steady(tonumber(ARGV[3]))
local demand = { tokens = tonumber(ARGV[5]), micros = tonumber(ARGV[6]), tool_calls = tonumber(ARGV[7]), requests = 1 }
lease(tonumber(ARGV[9]))
confirm(ARGV[10])
local gen = redis.call('HMGET', P .. 'generation', 'id', 'at', 'settles')
local settles = gen[3] and tonumber(gen[3]) or 0
local unsettled = settles > server
local paced = plan.u ~= 1
local function needed(b) return b.m == 'requests' and 1 or 0 end
local function untilLevel(b, level, wanted)
  if b.r <= 0 then return 60000 end
  return math.ceil((wanted - level) * 60000 / b.r)
end
local flying = {}
for i, s in ipairs(paced and plan.s or {}) do
  flying[i] = 0
  local locked = redis.call('HMGET', P .. 'l:' .. s.k, 'u', 'b')
  if locked[1] and tonumber(locked[1]) > now then
    local wait = tonumber(locked[1]) - now
    for _, b in ipairs(plan.b) do
      if b.s == i - 1 then wait = math.max(wait, untilLevel(b, bucket(b, now), needed(b))) end
    end
    return { 'locked', i - 1, locked[2], whole(wait) }
  end
  if s.m >= 0 then
    local n = sum(P .. 'c:' .. s.k)
    if n >= s.m then return { 'concurrency', i - 1, n } end
    flying[i] = n + 1
  end
end
local levels = {}
for i, b in ipairs(paced and plan.b or {}) do
  local level = bucket(b, now)
  levels[i] = level
  local left = b.e or 0
  if (needed(b) == 1 and level - left < 1 - 1e-9) or (needed(b) == 0 and level - left <= 0) then
    local wait = math.max(1, untilLevel(b, level, needed(b) + left))
    -- It is not empty for others: nobody is locked out for it.
    if left > 0 then return { 'bucket', i - 1, whole(wait) } end
    return { 'bucket', i - 1, whole(math.max(wait, lock(b, now))) }
  end
end
local cold = { 'cold' }
local held = nil
local spent = {}
local known = {}
for i, w in ipairs(plan.w) do
  local s = redis.call('GET', P .. 'w:' .. w.k)
  known[i] = s
  if not s and gen[1] and w.a > tonumber(gen[2]) then s = '0' end
  if not gen[1] or (known[i] and w.n and epoch(w) < w.n) then s = false end
  if s and settles > 0 and not unsettled and redis.call('SISMEMBER', P .. 'early', w.k) == 1 then s = false end
  if not s then
    cold[#cold + 1] = i - 1
  else
    local n = tonumber(s)
    spent[i] = n
    if w.h == 1 then
      local hold, once = 0, 0
      if w.m == 'tokens' or w.m == 'micros' then hold = demand[w.m] else once = demand[w.m] end
      if n + hold + once > w.l then
        if hold == 0 or n - doubtful(w.k, tonumber(ARGV[11])) + hold > w.l then return { 'window', i - 1, whole(n) } end
        held = held or w.k
      end
      if unsettled and hold + once > (given[w.k] or 0) then held = held or w.k end
      if not held and hold > 0 and n + hold + sum(P .. 'h:' .. w.k) - (given[w.k] or 0) > w.l then held = w.k end
    end
  end
end
if #cold > 1 then return cold end
if held then return { 'held', held } end
local out = { 'admitted', gen[1] or '' }
if ARGV[8] == '1' then
  for i = 1, #plan.w do out[#out + 1] = whole(spent[i]) end
  return out
end
for _, s in ipairs(plan.s) do
  if paced and s.m >= 0 then
    if redis.call('HINCRBY', P .. 'c:' .. s.k, owner, 1) == 1 then redis.call('PEXPIRE', P .. 'c:' .. s.k, 2592000000) end
  end
end
for i, b in ipairs(paced and plan.b or {}) do
  if b.m == 'requests' then
    levels[i] = levels[i] - 1
    putBucket(b, levels[i], now)
  end
end
local taken = {}
for i, w in ipairs(plan.w) do
  local once, hold = 0, 0
  if w.m == 'tokens' or w.m == 'micros' then
    if w.h == 1 then hold = demand[w.m] end
  else
    once = demand[w.m]
  end
  if once > 0 or not known[i] then redis.call('SET', P .. 'w:' .. w.k, whole(spent[i] + once), 'PX', whole(w.x)) end
  if w.n and not known[i] then begin(w) end
  if hold > 0 and redis.call('HINCRBY', P .. 'h:' .. w.k, owner, whole(hold)) == hold then redis.call('PEXPIRE', P .. 'h:' .. w.k, whole(w.x)) end
  if once > 0 and w.z == 0 then taken[w.k] = { once, w.m } end
  out[#out + 1] = whole(spent[i] + once)
end
redis.call('SET', P .. 'r:' .. ARGV[4], '1', 'PX', 864000000)
remember(ARGV[4], taken)
for _, level in ipairs(levels) do out[#out + 1] = string.format('%.9f', level) end
for _, n in ipairs(flying) do out[#out + 1] = whole(n) end
return out
`;

/**
 * ARGV: plan, owner, monotonic ms, reservation ID, tokens, micro-dollars, tool calls, probe, lease ms, sealed calls,
 * remaining lease of a process that stopped renewing. While other processes may still put back holds that an emptied
 * store lost, a call that a hard limit could refuse waits; totals read before that are read again.
 */
export const ADMIT = `${PRELUDE}
local given = {}
${TAKE}`;

/**
 * ARGV: those of ADMIT, then for each reservation to replace: ID, tokens, micro-dollars, tool calls, plan. These
 * release their holds if the new one is admitted and keep them otherwise.
 */
export const TRANSFER = `${PRELUDE}${PARTING}
local given, from = {}, {}
for i = 12, #ARGV, 5 do
  local state = redis.call('GET', P .. 'r:' .. ARGV[i])
  if state == '1' or state == 'p' then
    local one = { id = ARGV[i], results = tonumber(ARGV[i + 3]), plan = cjson.decode(ARGV[i + 4]), holds = {} }
    local amount = { tokens = tonumber(ARGV[i + 1]), micros = tonumber(ARGV[i + 2]) }
    for _, w in ipairs(one.plan.w) do
      local hold = w.h == 1 and amount[w.m] or 0
      if hold > 0 then
        one.holds[#one.holds + 1] = { w.k, hold }
        given[w.k] = math.min((given[w.k] or 0) + hold, tonumber(redis.call('HGET', P .. 'h:' .. w.k, owner) or '0'))
      end
    end
    from[#from + 1] = one
  end
end
local function take()
${TAKE}
end
local taken = take()
for _, one in ipairs(taken[1] == 'admitted' and from or {}) do
  stateOf(one.id, one.plan, one.results)
  for _, of in ipairs(one.holds) do release(P .. 'h:' .. of[1], of[2]) end
  parted(one.id, { input = 0, output = 0, micros = 0 })
end
return taken
`;

/**
 * ARGV: plan, owner, monotonic ms, reservation ID, held tokens, held micro-dollars, generation at admission, requests, input, output,
 * micro-dollars, sealed calls, 1 to part (the call continues), tool results counted at admission. What was counted here or at admission
 * is kept under the owner until the call's row is sealed. Settling and parting are idempotent: the reservation records which was done,
 * and settling subtracts what parting counted. After the store was emptied, usage is added to the windows that have been reloaded.
 */
export const SETTLE = `${PRELUDE}${PARTING}
local now = steady(tonumber(ARGV[3]))
local held = { tokens = tonumber(ARGV[5]), micros = tonumber(ARGV[6]) }
local used = { requests = 0, tool_calls = 0, input = tonumber(ARGV[9]), output = tonumber(ARGV[10]), micros = tonumber(ARGV[11]) }
local parting = ARGV[13] == '1'
confirm(ARGV[12])
local state = stateOf(ARGV[4], plan, tonumber(ARGV[14]))
local had = state and true or false
if not had then
  local gen = redis.call('HGET', P .. 'generation', 'id')
  if parting or ARGV[7] == '' or gen == ARGV[7] then return {} end
  held = {} -- What stands under the owner's name is what its other calls put back.
end
if parting then
  if state ~= '1' then return {} end
  parted(ARGV[4], { input = used.input, output = used.output, micros = used.micros })
else
  redis.call('DEL', P .. 'r:' .. ARGV[4])
  if had and state ~= '1' then
    for k, n in pairs(cjson.decode(state)) do used[k] = math.max(0, used[k] - n) end
    held = {}
  end
end
used.tokens = used.input + used.output
for _, s in ipairs(plan.s) do if s.m >= 0 and had and not parting and plan.u ~= 1 then release(P .. 'c:' .. s.k, 1) end end
for _, b in ipairs(plan.b) do
  if b.m ~= 'requests' and used[b.m] > 0 then
    local level = bucket(b, now) - used[b.m]
    putBucket(b, level, now)
    if level <= 0 then lock(b, now) end
  end
end
local out = {}
local counted = {}
local entry = redis.call('HGET', P .. 'x:' .. owner, ARGV[4])
if entry then
  for k, of in pairs(cjson.decode(entry)) do
    if (of[2] ~= 'requests' and of[2] ~= 'tool_calls') or parting or ARGV[8] ~= '0' then counted[k] = of end
  end
end
for i, w in ipairs(plan.w) do
  local change = used[w.m]
  if w.m == 'requests' and not parting then change = tonumber(ARGV[8]) - (had and 1 or 0) end
  if w.m == 'tool_calls' and not parting and had and ARGV[8] == '0' then change = -tonumber(ARGV[14]) end
  local key = P .. 'w:' .. w.k
  local n = redis.call('GET', key)
  if n then
    n = math.max(0, tonumber(n) + change)
    if change ~= 0 then redis.call('SET', key, whole(n), 'KEEPTTL') end
  end
  if w.h == 1 and held[w.m] and held[w.m] > 0 then release(P .. 'h:' .. w.k, held[w.m]) end
  out[i] = whole(n or 0)
  if n and (w.m == 'tokens' or w.m == 'micros') and change > 0 and w.z == 0 then
    counted[w.k] = { change + (counted[w.k] and counted[w.k][1] or 0), w.m }
  end
  if w.z == 1 and not parting and redis.call('EXISTS', P .. 'h:' .. w.k) == 0 then redis.call('DEL', key) end -- A job may hold of it.
end
remember(ARGV[4], counted)
return out
`;

/** ARGV: plan, owner, monotonic ms, new generation, ms until the store is complete again, then pairs of window index and amount. */
export const WARM = `${PRELUDE}
if redis.call('HSETNX', P .. 'generation', 'id', ARGV[4]) == 1 and ARGV[5] ~= '0' then
  redis.call('HSET', P .. 'generation', 'settles', whole(server + tonumber(ARGV[5])))
end
redis.call('HSETNX', P .. 'generation', 'at', ARGV[3])
local settles = tonumber(redis.call('HGET', P .. 'generation', 'settles') or '0')
for i = 6, #ARGV, 2 do
  local w = plan.w[tonumber(ARGV[i]) + 1]
  local key = P .. 'w:' .. w.k
  local n = tonumber(redis.call('GET', key) or '-1')
  local truth = tonumber(ARGV[i + 1])
  if settles > 0 then truth = truth + tonumber(redis.call('GET', P .. 'p:' .. w.k) or '0') end
  local mine, known, early = w.n or 0, epoch(w), redis.call('SISMEMBER', P .. 'early', w.k) == 1
  if mine > known then
    -- What was counted and is in no row yet is in no truth.
    truth = truth + doubtful(w.k, 86400000)
    n = -1
    begin(w)
  end
  -- The truth of an earlier epoch is too much; it is better than none.
  if truth > n and (mine >= known or n < 0 or early) then redis.call('SET', key, whole(truth), 'PX', whole(w.x)) end
  if settles > server then
    redis.call('SADD', P .. 'early', w.k)
    redis.call('PEXPIRE', P .. 'early', 172800000)
  elseif settles > 0 then
    redis.call('SREM', P .. 'early', w.k)
  end
end
return 1
`;

/** ARGV: plan, owner, monotonic ms, new generation, ms for which calls subject to hard limits wait. */
export const HOLD_BACK = `${PRELUDE}
redis.call('HSETNX', P .. 'generation', 'id', ARGV[4])
redis.call('HSETNX', P .. 'generation', 'at', ARGV[3])
local settles = tonumber(redis.call('HGET', P .. 'generation', 'settles') or '0')
redis.call('HSET', P .. 'generation', 'settles', whole(math.max(settles, server + tonumber(ARGV[5]))))
return 1
`;

/**
 * ARGV: plan, owner. Returns calls that dead owners counted and whose rows are not known, as triples of owner, call
 * and ms since the lease ended.
 */
export const DOUBTFUL = `${PRELUDE}
local out = {}
local dead = redis.call('ZRANGEBYSCORE', P .. 'owners', '-inf', whole(server), 'WITHSCORES')
for i = 1, #dead, 2 do
  for _, id in ipairs(redis.call('HKEYS', P .. 'x:' .. dead[i])) do
    out[#out + 1] = dead[i]
    out[#out + 1] = id
    out[#out + 1] = whole(server - tonumber(dead[i + 1]))
  end
end
return out
`;

/**
 * ARGV: plan, dead owner, call, 1 if its row is known, then its tokens, micro-dollars and requests. A call without a
 * row counts as having used nothing.
 */
export const RESOLVE = `${PRELUDE}
local key = P .. 'x:' .. owner
local entry = redis.call('HGET', key, ARGV[3])
if not entry or redis.call('HDEL', key, ARGV[3]) == 0 then return 0 end
local is = { tokens = 0, micros = 0, requests = 0, tool_calls = 0 }
if ARGV[4] == '1' then is = { tokens = tonumber(ARGV[5]), micros = tonumber(ARGV[6]), requests = tonumber(ARGV[7]) } end
for k, of in pairs(cjson.decode(entry)) do
  local n = redis.call('GET', P .. 'w:' .. k)
  -- A row does not say how many results of tools its request brought: those that were counted stay.
  if n then redis.call('SET', P .. 'w:' .. k, whole(math.max(0, tonumber(n) - of[1] + (is[of[2]] or of[1]))), 'KEEPTTL') end
end
return 1
`;

/**
 * ARGV: plan, owner, lease ms, sealed calls, previous owner name, then for each reservation to hold again: ID, tokens,
 * micro-dollars, tool calls, plan. Renews the lease; returns 0 if it had expired, and the owner's holds with it.
 */
export const RENEW = `${PRELUDE}
local kept = isAlive(owner)
lease(tonumber(ARGV[3]))
confirm(ARGV[4])
-- Under the old name nothing is held any more, should its lease run still: all of it is held again below.
for i = 6, ARGV[5] ~= owner and #ARGV or 0, 5 do
  local p = cjson.decode(ARGV[i + 4])
  for _, s in ipairs(p.s) do redis.call('HDEL', P .. 'c:' .. s.k, ARGV[5]) end
  for _, w in ipairs(p.w) do redis.call('HDEL', P .. 'h:' .. w.k, ARGV[5]) end
end
for i = 6, #ARGV, 5 do
  local counted = redis.call('HGET', P .. 'x:' .. ARGV[5], ARGV[i])
  if counted and ARGV[5] ~= owner then
    redis.call('HDEL', P .. 'x:' .. ARGV[5], ARGV[i])
    remember(ARGV[i], cjson.decode(counted))
  end
  local p = cjson.decode(ARGV[i + 4])
  local amount = { tokens = tonumber(ARGV[i + 1]), micros = tonumber(ARGV[i + 2]) }
  local once = { requests = 1, tool_calls = tonumber(ARGV[i + 3]) }
  -- One that is known under this name is held already.
  local emptied = redis.call('SET', P .. 'r:' .. ARGV[i], 'p', 'NX', 'PX', 864000000) and true or false
  local lost = emptied or ARGV[5] ~= owner
  for _, s in ipairs(lost and p.s or {}) do if s.m >= 0 and p.u ~= 1 then redis.call('HINCRBY', P .. 'c:' .. s.k, owner, 1) end end
  for _, w in ipairs(lost and p.w or {}) do
    -- What is counted when a call is admitted is in no truth before it ends.
    if emptied and (once[w.m] or 0) > 0 then
      redis.call('INCRBY', P .. 'p:' .. w.k, whole(once[w.m]))
      redis.call('PEXPIRE', P .. 'p:' .. w.k, 172800000)
      if redis.call('EXISTS', P .. 'w:' .. w.k) == 1 then redis.call('INCRBY', P .. 'w:' .. w.k, whole(once[w.m])) end
    end
    if w.h == 1 and amount[w.m] and amount[w.m] > 0 then
      redis.call('HINCRBY', P .. 'h:' .. w.k, owner, whole(amount[w.m]))
      redis.call('PEXPIRE', P .. 'h:' .. w.k, whole(w.x))
    end
  end
end
return kept and 1 or 0
`;
