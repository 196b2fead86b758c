import type { Mutant } from '../mutants.ts'

/** Mistakes in the scripts of Redis, and around them, that the simulator must find where these run. */
export const redisMutants: readonly Mutant[] = [
  {
    name: 'Lua: a refusal is charged',
    file: 'stores/redis/decide.lua.ts',
    text: '      if not admitted then cost = 0 end\n',
    by: '',
  },
  {
    name: 'Lua: a policy that admits keeps its charge when another refuses',
    file: 'stores/redis/decide.lua.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the sources
    text: "`if not all ${policy.dry ? 'or not admitted ' : ''}then cost = 0 end`",
    by: "'if not admitted then cost = 0 end'",
  },
  {
    name: 'Lua: a state is forgotten before its quota is full',
    file: 'stores/redis/state.lua.ts',
    text: 'local ttl = keepFor + ',
    by: 'local ttl = keepFor / 4 + 0 * ',
  },
  {
    name: 'Lua: an own limit that has ended decides',
    file: 'stores/redis/state.lua.ts',
    text: 'if ends <= now then ends = 0 end',
    by: 'if ends <= now - 1000 then ends = 0 end',
  },
  {
    name: 'Lua: a top-up is made again for the same id',
    file: 'stores/redis/own.lua.ts',
    text: '    if one ~= 0 or other ~= 0 then return 1 end\n',
    by: '',
  },
  {
    name: "Lua: a reset ends a client's own limit",
    file: 'stores/redis/own.lua.ts',
    text: '  blockedUntil = ARGV[3] > 0 and now + ARGV[3] or 0\n',
    by: '  blockedUntil, ownUntil = ARGV[3] > 0 and now + ARGV[3] or 0, 0\n',
  },
  {
    name: 'Lua: a settlement corrects the present',
    file: 'stores/redis/correct.lua.ts',
    text: 'ARGV[3] < 0 and now or ARGV[3]',
    by: 'now',
  },
  {
    name: 'Lua: a sliding window counts a millisecond more of the previous one',
    file: 'algorithms/sliding-window/sliding-window.lua.generated.ts',
    text: '(a + 1) * windowMs - 1 - now',
    by: '(a + 1) * windowMs - now',
  },
  {
    name: 'Lua: a sliding log keeps its oldest millisecond',
    file: 'algorithms/sliding-log/sliding-log.lua.ts',
    text: 'a, c = logTrim(key, now - window, a, b, c)\n    admitted',
    by: 'a, c = logTrim(key, now - window - 1, a, b, c)\n    admitted',
  },
  {
    name: 'Lua: a bucket drains for a millisecond too long',
    file: 'algorithms/bucket/bucket.lua.generated.ts',
    text: '      local drained = now - b\n',
    by: '      local drained = now - b + 1\n',
  },
  {
    name: 'Lua: a ban begins one refusal too late',
    file: 'algorithms/ban/ban.lua.generated.ts',
    text: 'if count >= units then',
    by: 'if count > units then',
  },
  {
    name: 'Lua: a slot is free a millisecond too late',
    file: 'algorithms/held/held.lua.ts',
    text: "redis.call('ZCOUNT', held, time + 1,",
    by: "redis.call('ZCOUNT', held, time,",
  },
  {
    name: 'Lua: a released slot stays taken',
    file: 'algorithms/held/held.lua.ts',
    text: "  redis.call('ZREM', held, unpack(gone))\n",
    by: '',
  },
  {
    name: 'Lua: what a dead process has reserved is given back by half',
    file: 'algorithms/reserved/reserved.lua.ts',
    text: 'ended[i], 17)\n        local delta = -units\n',
    by: 'ended[i], 17)\n        local delta = -math.ceil(units / 2)\n',
  },
  {
    name: 'Lua: a settlement is made again',
    file: 'algorithms/reserved/reserved.lua.ts',
    text: 'if units == 0 then delta = 0 end',
    by: '',
  },
  {
    name: 'requests of one key in one script do not see each other',
    file: 'stores/redis/ledger-scripts.ts',
    text: 'const isRepeated = !isAlone && !areDistinct(requests)',
    by: 'const isRepeated = false',
  },
  {
    name: 'a script is sent again after any error',
    file: 'stores/redis/connection.ts',
    text: "if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT'))",
    by: 'if (!(error instanceof Error))',
  },
  {
    name: 'a script that a server has lost is not sent again',
    file: 'stores/redis/connection.ts',
    text: "!error.message.startsWith('NOSCRIPT')",
    by: 'error.message !== ""',
  },
]
