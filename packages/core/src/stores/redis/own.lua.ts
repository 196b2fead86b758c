import { STATE_BYTES } from '../../algorithms/lua-step.ts'
import { MAX_GRANTS } from '../rules/own-terms.ts'
import { ARGUMENTS, constantArguments } from './correct.lua.ts'
import {
  constantsOf,
  functionsOf,
  GRANT_BYTES,
  mostOf,
  NO_STATE,
  ownBytes,
  ownConstants,
  type ScriptStep,
} from './state.lua.ts'

/**
 * Changes what a client has of its own in one policy, and nothing else: a count that is full again or a block that
 * is over stays as it is, since a clock that steps back makes it apply again.
 *
 * KEYS[1]: its state. ARGV[3]: the constants of the policy's limit. Then, to set its own limit, until when
 * (ms; 0: it has none), the limit, its burst and delay (-1: none) and its constants; or to add units, until
 * when (ms; 0: with the present window), how many, the two halves of the id, and the largest limit and
 * the policy's.
 *
 * Returns 0: done; 1: the id is known; 2: there are too many top-ups; 3: the limit would be too large; 4: it has ended.
 */
export function ownLua(each: ScriptStep, isGrant: boolean): string {
  const { step, given } = each
  const count = ownConstants(step).length
  const bytes = ownBytes(each)
  const first = 3 + given
  const arg = (n: number) => `ARGV[${first + n}]`
  return `${functionsOf([each])}
${ARGUMENTS}
local at, key = 2, KEYS[1]
${constantsOf(each, constantArguments(each, 1))}
local value = call('GET', key)
local a, b, c, livesUntil, terms, entries = 0, 0, 0, 0, '', ''
if value and #value == 8 then
  a, b = -1, (struct.unpack('<d', value))
elseif value then
  if #value < ${STATE_BYTES} then return redis.error_reply(${NO_STATE}) end
  a, b, c, livesUntil = struct.unpack('<dddd', value)
  if livesUntil < 0 and #value >= ${STATE_BYTES} + ${bytes} then
    local size = struct.unpack('<d', value, ${STATE_BYTES + 1})
    local grants = (size - ${bytes}) / ${GRANT_BYTES}
    if not (grants >= 0 and grants % 1 == 0 and size <= ${mostOf(each)} and #value >= ${STATE_BYTES} + size) then
      return redis.error_reply(${NO_STATE})
    end
    terms, livesUntil = string.sub(value, ${STATE_BYTES + 1}, ${STATE_BYTES} + size), -livesUntil
  end
  entries = string.sub(value, ${STATE_BYTES + 1} + #terms)
  ${step.entries ? '' : `if #entries > 0 then return redis.error_reply(${NO_STATE}) end`}
end

local ownUntil, numbers = 0, ('\\0'):rep(${8 * (3 + count)})
local grants, granted, ends = {}, 0, 0
if terms ~= '' then
  ownUntil = struct.unpack('<d', terms, 17)
  numbers = string.sub(terms, 25, ${bytes})
  for from = ${bytes + 1}, #terms, ${GRANT_BYTES} do
    local time, units = struct.unpack('<dd', terms, from)
    if time > now then
      grants[#grants + 1] = string.sub(terms, from, from + ${GRANT_BYTES - 1})
      granted, ends = granted + units, math.max(ends, time)
    end
  end
end
${isGrant ? grant(each, arg) : override(count, first)}

if ownUntil > now then
  ends = math.max(ends, ownUntil)
else
  ownUntil, numbers = 0, pack('<ddd', -1, -1, -1) .. ('\\0'):rep(${8 * count})
end
if ends > now then
  grants = table.concat(grants)
  value = pack('<dddd', a, b, c, -math.max(1, livesUntil))
    .. pack('<ddd', ${bytes} + #grants, ends, ownUntil) .. numbers .. grants .. entries
elseif a == -1 then
  value = pack('<d', b)
else
  local isUsed = a ~= 0 or b ~= 0 or c ~= 0 or #entries > 0
  value = isUsed and pack('<dddd', a, b, c, livesUntil) .. entries
end
ends = math.max(now, ends, livesUntil, a == -1 and b or 0)
if not value then call('DEL', key)
elseif ends == math.huge then call('SET', key, value)
else call('SET', key, value, 'PX', string.format('%.0f', ends - now + minTtl)) end
return 0`
}

function override(count: number, first: number): string {
  return `
ownUntil = ARGV[${first}]
numbers = pack('<${'d'.repeat(3 + count)}', unpack(ARGV, ${first + 1}, ${first + 3 + count}))`
}

function grant({ step }: ScriptStep, arg: (n: number) => string): string {
  return `
local time, units, one, other = ${arg(0)}, ${arg(1)}, ${arg(2)}, ${arg(3)}
if time == 0 then
  local problem
  ${step.check ?? ''}
  if problem then return redis.error_reply(problem) end
  local a, b, c, rebased, ends = a, b, c
  if a == -1 then a, b, c = 0, 0, 0 end
  ${step.enter ?? ''}
  ${step.grantEnd ?? ''}
  time = ends
end
if time <= now then return 4 end
local limit = ownUntil > now and struct.unpack('<d', numbers) or ${arg(5)}
local id, same = pack('<dd', one, other)
for i, known in ipairs(grants) do
  if string.sub(known, 17) == id then
    if one ~= 0 or other ~= 0 then return 1 end
    if struct.unpack('<d', known) == time then same = i end
  end
end
if not same and #grants == ${MAX_GRANTS} then return 2 end
if granted + units > ${arg(4)} - limit then return 3 end
if same then
  local _, before = struct.unpack('<dd', grants[same])
  grants[same] = pack('<dd', time, before + units) .. id
else
  grants[#grants + 1] = pack('<dd', time, units) .. id
end
ends = math.max(ends, time)`
}
