// What a user asks for and gets: in this process, or in one of its own where that matters.

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { createLimiter, memoryStore } from '@sluice/core'
import { scratch } from '@sluice/test-harness/jest'
import type { Report } from './report/report.ts'
import {
  type KnownRequest,
  knownTraffic,
  toCombined,
  toJsonLines,
} from './testing/known-traffic.ts'
import { replayed } from './testing/replayed.ts'
import { complaints, ended, runCli, startCli } from './testing/run-cli.ts'

const { folder, file } = scratch()
// Four minutes have one edge of a window with a burst at each side of it, in the third.
const known = file('known.txt', toCombined(knownTraffic(3, 4)))
const LIMIT = ['--limit', '100', '--window', '1m']

describe('the report', () => {
  it('is a table and findings, without colours if there is no terminal', async () => {
    const { code, stdout, stderr } = await runCli(['replay', known, ...LIMIT])
    expect({ code, stderr: complaints(stderr) }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('100 per 1 min')
    expect(stdout).toMatch(/algorithm +admitted +refused +clients refused +most in a window/)
    expect(stdout).toMatch(
      /fixed-window +[\d,]+ +[\d,]+ \([\d.]+ %\) +\d+ \([\d.]+ %\) +200 \(200 %\)/,
    )
    expect(stdout).toContain(
      '- fixed-window let 2 clients through with more than 150 % of the limit',
    )
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it must not be there
    expect(stdout).not.toMatch(/\u001b/)
  })

  it('masks clients everywhere, unless they are asked for', async () => {
    for (const json of [[], ['--json']]) {
      const hidden = await runCli(['replay', known, ...LIMIT, ...json])
      expect(hidden.stdout).not.toMatch(/203\.0\.113\.\d|192\.0\.2\.\d/)
      const shown = await runCli(['replay', known, ...LIMIT, ...json, '--show-clients'])
      if (json.length > 0) expect(shown.stdout).toContain('"192.0.2.77"')
    }
  })

  it('goes into a file in addition to the table', async () => {
    const path = `${folder}/report.json`
    const { stdout } = await runCli(['replay', known, ...LIMIT, '--json', path])
    expect(stdout).toContain('What stands out')
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ schema: 1, clients: 42 })
  })

  describe('of a log that has only whole seconds', () => {
    const clock = (i: number) => `[21/Nov/2026:14:00:${String(i).padStart(2, '0')} +0000]`
    // Two requests in each second, half a second apart.
    const times = Array.from({ length: 40 }, (_, i) => 1_795_269_600 + i / 2)
    const seconds = file(
      'seconds.log',
      times
        .map((_, i) => `192.0.2.1 - - ${clock(Math.floor(i / 2))} "GET / HTTP/1.1" 200 5\n`)
        .join(''),
    )
    const exact = file('exact.log', times.map((time) => `${time.toFixed(3)} 192.0.2.1\n`).join(''))
    const refusedOf = ({ runs }: Report) => runs[0]?.refused
    const about = ({ findings }: Report) =>
      findings.filter((each) => each.includes('whole seconds'))
    const SHORT = ['--limit', '1', '--algorithm', 'sliding-log', '--window']

    it('says which refusals may come from the log, and the same with fractions has none', async () => {
      const short = await replayed(seconds, ...SHORT, '1s')
      expect([refusedOf(short), about(short).length]).toEqual([20, 1])
      const pattern = ['--format', '$msec $remote_addr']
      const half = await replayed(exact, ...SHORT, '500ms', ...pattern)
      expect([refusedOf(half), about(half)]).toEqual([0, []])
    })

    it('says nothing of a window in which a second is little', async () => {
      expect(about(await replayed(seconds, ...SHORT, '1m'))).toEqual([])
    })
  })

  it('does not overwrite a log by mistake', async () => {
    const before = readFileSync(known, 'utf8')
    const { code, stderr } = await runCli(['replay', '--json', known, ...LIMIT])
    expect(code).toBe(2)
    expect(stderr).toContain('--json: expected a name that ends with .json')
    expect(readFileSync(known, 'utf8')).toBe(before)
  })
})

describe('windows of the calendar', () => {
  it('begin at midnight of the time zone, with the fixed window alone', async () => {
    const at = ['21:59:59', '22:00:00', '23:59:59'].map((time) => `2026-06-01T${time}Z`)
    const log = file(
      'days.jsonl',
      `${at.map((time) => JSON.stringify({ time, ip: '192.0.2.1' })).join('\n')}\n`,
    )
    const refused = async (...flags: string[]) => {
      const { runs } = await replayed(log, '--limit', '1', '--window', 'day', ...flags)
      return runs.map((run) => [run.name, run.refused])
    }
    expect(await refused()).toEqual([['fixed-window', 2]])
    expect(await refused('--time-zone', 'Europe/Berlin')).toEqual([['fixed-window', 1]])
  })

  it.each([
    [['--window', 'day', '--algorithm', 'token-bucket'], '--algorithm: expected'],
    [['--window', '1d', '--time-zone', 'UTC'], '--time-zone is for --window day, week or month'],
    [['--window', 'day', '--time-zone', 'Berlin'], '--time-zone: expected an IANA time zone'],
  ])('%j: wrong', async (flags, said) => {
    const { code, stderr } = await runCli(['replay', known, '--limit', '1', ...flags])
    expect({ code, stderr: stderr.includes(said) ? said : stderr }).toEqual({
      code: 2,
      stderr: said,
    })
  })
})

describe('requests in progress', () => {
  /** Three at the same time by one client, of which the last ends first; then one more. */
  const LINES = [
    [0, 5],
    [1, 5],
    [2, 1],
    [6, 1],
  ] as const
  const start = Date.UTC(2026, 10, 21, 14)
  const json = (loggedAt: 'start' | 'end', name: string) =>
    file(
      name,
      LINES.map(([at, seconds]) => ({
        time: start + 1000 * (at + (loggedAt === 'end' ? seconds : 0)),
        ip: '192.0.2.1',
        request_time: seconds.toFixed(3),
        took: seconds * 1000,
      }))
        .sort((one, other) => one.time - other.time)
        .map((each) => `${JSON.stringify(each)}\n`)
        .join(''),
    )
  const combined = (loggedAt: 'start' | 'end', digits: (seconds: number) => string) =>
    LINES.map(([at, seconds]) => {
      const time = start + 1000 * (at + (loggedAt === 'end' ? seconds : 0))
      const clock = new Date(time).toISOString().slice(11, 19)
      return {
        time,
        line: `192.0.2.1 - - [21/Nov/2026:${clock} +0000] "GET / HTTP/1.1" 200 5 "-" "curl" ${digits(seconds)}\n`,
      }
    })
      .sort((one, other) => one.time - other.time)
      .map(({ line }) => line)
      .join('')

  it.each([
    ['nginx', combined('end', (seconds) => seconds.toFixed(3)), ['--duration', 's']],
    [
      'Apache with %D',
      combined('start', (seconds) => `${seconds}000000`),
      ['--duration', 'us', '--logged-at', 'start'],
    ],
  ])('of a combined log, as %s writes it', async (name, text, flags) => {
    const log = file(`${name}.log`, text)
    const { runs, timeline } = await replayed(log, '--concurrent', '2', ...flags)
    expect(runs).toMatchObject([
      { name: 'concurrency', admitted: 3, refused: 1, most: [{ units: 2 }] },
    ])
    expect(timeline.startMs).toBeLessThanOrEqual(start)
  })

  it('of JSON lines, next to limits per window and with bans', async () => {
    const log = json('end', 'took.jsonl')
    for (const field of ['request_time:s', 'took:ms']) {
      const { runs } = await replayed(
        log,
        ...['--concurrent', '2', '--duration', field, '--limit', '100', '-a', 'fixed-window'],
      )
      expect(runs.map(({ name, refused }) => [name, refused])).toEqual([
        ['fixed-window', 0],
        ['concurrency', 1],
      ])
    }
    const banned = ['--concurrent', '2', '--duration', 'took:ms', '--ban', '1/1h/1m']
    const [run] = (await replayed(log, ...banned)).runs
    expect(run).toMatchObject({ admitted: 2, refused: 2, bans: 1, clientsBanned: 1 })
  })

  it('of a configuration, in the table and on the page', async () => {
    const log = json('start', 'began.jsonl')
    const policies = [
      { name: 'in-progress', concurrent: 2 },
      { name: 'minute', limit: 100, window: '1m' },
    ]
    const config = file('concurrent.json', JSON.stringify({ policies }))
    const page = `${folder}/concurrent.html`
    const { code, stdout } = await runCli([
      ...['replay', log, '--config', config, '--duration', 'took:ms', '--logged-at', 'start'],
      ...['--html', page],
    ])
    expect(code).toBe(0)
    expect(stdout).toMatch(/in-progress: 2 at the same time +2 \(100 %\)/)
    expect(stdout).toMatch(/all together +3 +1 \(25 %\)/)
    expect(readFileSync(page, 'utf8')).toContain('at the same time')
  })

  it('alone, limits per window are suggested all the same', async () => {
    const log = json('start', 'suggest.jsonl')
    const flags = ['--concurrent', '2', '--duration', 'took:ms', '--logged-at', 'start']
    const { suggestion } = await replayed(log, ...flags, '--suggest')
    expect(suggestion?.rows[0]).toMatchObject({ share: 0.99, limit: 4 })
  })

  it('lines without a duration are unreadable', async () => {
    const log = file(
      'short.log',
      combined('end', (seconds) => (seconds === 1 ? '-' : '5.000')),
    )
    const { source } = await replayed(log, '--concurrent', '2', '--duration', 's')
    expect(source).toMatchObject({ lines: 4, unreadable: 2 })
  })
})

describe('bans', () => {
  const BAN = ['-a', 'sliding-log', '--ban', '3/1h/1m,10m']

  it('are counted, in JSON, in the table and on the page', async () => {
    const [run] = (await replayed(known, ...LIMIT, ...BAN)).runs
    expect(run?.bans).toBeGreaterThan(1)
    expect(run?.clientsBanned).toBeGreaterThan(0)
    const [without] = (await replayed(known, ...LIMIT, '-a', 'sliding-log')).runs
    expect(without).toMatchObject({ bans: 0, clientsBanned: 0 })
    expect(run?.refused).toBeGreaterThan(without?.refused ?? 0)
    const page = `${folder}/bans.html`
    const { stdout } = await runCli(['replay', known, ...LIMIT, ...BAN, '--html', page])
    expect(stdout).toMatch(/clients refused +bans +most in a window/)
    expect(stdout).toContain(`sliding-log banned ${run?.clientsBanned} client`)
    expect(readFileSync(page, 'utf8')).toContain('Bans')
  })

  it('are those of a configuration too', async () => {
    const config = file(
      'bans.json',
      JSON.stringify({
        limit: 100,
        window: '1m',
        algorithm: 'sliding-log',
        ban: { after: 3, within: '1h', for: ['1m', '10m'] },
      }),
    )
    const [short] = (await replayed(known, ...LIMIT, ...BAN)).runs
    const [whole] = (await replayed(known, '--config', config)).runs
    expect([whole?.bans, whole?.clientsBanned, whole?.refused]).toEqual([
      short?.bans,
      short?.clientsBanned,
      short?.refused,
    ])
  })
})

describe('exit codes', () => {
  it('3 if a run refuses more than allowed', async () => {
    const codes = await Promise.all(
      ['0%', '5%', '0.9', '100%'].map(async (share) => {
        const { code } = await runCli(['replay', known, ...LIMIT, '--fail-if-refused', share])
        return code
      }),
    )
    expect(codes).toEqual([3, 3, 0, 0])
  })

  it.each([
    [['replay', known], 'say which --limit to play, or let one be found with --suggest'],
    [
      ['replay', known, '--limit', '1e3'],
      '--limit: expected an integer from 0 to 9007199254740991',
    ],
    [['replay', known, '--limit', '5', '--window', '1x'], '--window: expected ms as an integer'],
    [['replay', known, '--limit', '5', '--algorithm', 'gcra'], "received 'gcra'"],
    [
      ['replay', known, ...LIMIT, '-a', 'sliding-log', '--burst', '5'],
      '--burst is for token-bucket',
    ],
    [['replay', known, ...LIMIT, '--max-delay', 'x'], '--max-delay: expected ms as an integer'],
    [['replay', known, '--concurrent', '2'], '--concurrent needs --duration'],
    [
      ['replay', known, '--concurrent', '2000', '--duration', 's'],
      '--concurrent: expected an integer from 0 to 1000',
    ],
    [
      ['replay', known, '--concurrent', '2', '--duration', 'x'],
      '--duration: expected a unit (s, ms or us)',
    ],
    [
      ['replay', known, '--concurrent', '2', '--duration', 'request_time:s'],
      '--duration: a combined log has it at the end of each line',
    ],
    [['replay', known, ...LIMIT, '--ban', '3'], '--ban: expected refusals/within/durations'],
    [['replay', known, ...LIMIT, '--ban', '0/1h/1m'], '--ban: expected an integer from 1 to 100'],
    [['replay', known, ...LIMIT, '--ban', '3/1h/1x'], '--ban: expected ms as an integer'],
    [['replay', known, ...LIMIT, '--key', 'who'], '--key: a combined log has ip and user'],
    [['replay', known, ...LIMIT, '--cost', 'n'], '--time and --cost are for JSON lines and CSV'],
    [
      ['replay', known, ...LIMIT, '--fail-if-refused', '200%'],
      '--fail-if-refused: expected a share',
    ],
    [['replay', known, ...LIMIT, '--format', 'xml'], 'Allowed choices are combined, json, csv'],
    [['replay', known, ...LIMIT, '--frobnicate'], "unknown option '--frobnicate'"],
    [['replay', known, '--config', 'a.json', '--limit', '5'], '--limit and --config exclude'],
    [['replay', known, '--config', 'nowhere.json'], "--config: nowhere.json can't be loaded"],
    [['play'], "unknown command 'play'"],
  ])('2 for wrong usage: %j', async (args, message) => {
    const { code, stdout, stderr } = await runCli(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })

  it('0 for help and version', async () => {
    const help = await runCli(['replay', '--help'])
    expect(help.code).toBe(0)
    expect(help.stdout).toContain('--fail-if-refused <share>')
    const version = await runCli(['--version'])
    expect([version.code, version.stdout.trim()]).toEqual([0, '0.1.0'])
  })

  it('0 if the reader has closed the pipe', async () => {
    const child = await startCli(['replay', known, ...LIMIT, '--json'])
    child.stdout.destroy()
    let stderr = ''
    child.stderr.on('data', (text) => {
      stderr += text
    })
    const code = await new Promise((resolve) => child.on('close', resolve))
    expect({ code, stderr: complaints(stderr) }).toEqual({ code: 0, stderr: '' })
  })
})

describe('Ctrl-C', () => {
  it('ends with what was played until then, and 130', async () => {
    const child = await startCli(['replay', '-', ...LIMIT, '--json', '--suggest'])
    const firstMessage = new Promise((resolve) => child.stderr.once('data', resolve))
    child.stdin.on('error', () => {})
    const requests = toJsonLines(knownTraffic(4)).replaceAll(',"cost":1', '')
    child.stdin.write(requests)
    // It reports its progress when some time has passed and more lines arrive.
    const feeding = setInterval(() => child.stdin.write('{"time":1795270230000,"ip":"x"}\n'), 100)
    await firstMessage
    clearInterval(feeding)
    child.kill('SIGINT')
    const { code, stdout } = await ended(child)
    expect(code).toBe(130)
    const { source, requests: played, suggestion } = JSON.parse(stdout) as Report
    expect(source.interrupted).toBe(true)
    expect(played).toBe(source.lines)
    expect(played).toBeGreaterThan(1000)
    expect(suggestion?.rows).toHaveLength(3)
  })
})

describe('--suggest', () => {
  /** Whether a token bucket of the core refuses any of these clients. */
  function refusesAny(requests: readonly KnownRequest[], limit: number, burst: number): boolean {
    let now = 0
    const store = memoryStore({ clock: () => now })
    const limiter = createLimiter({ store, limit, burst, window: '1m', algorithm: 'token-bucket' })
    const refused = requests.some(({ atMs, client, cost }) => {
      now = atMs
      return !limiter.consume(client, { cost }).allowed
    })
    store.close()
    return refused
  }

  /** Clients that ask for little, at the time of the known traffic, some of them twice. */
  function small(clients: number): KnownRequest[] {
    return Array.from({ length: clients * 2 }, (_, i) => ({
      atMs: 1_795_269_640_000 + 37 * i,
      client: `10.0.${(i % clients) >> 8}.${(i % clients) & 255}`,
      cost: 1 + (i % 3),
    }))
  }

  it('suggests limits at which so many clients are never refused, and bursts that are just enough', async () => {
    const requests = [...knownTraffic(5), ...small(600)].sort((one, other) => one.atMs - other.atMs)
    const log = file('suggest.jsonl', toJsonLines(requests))
    const { suggestion, runs } = await replayed(log, '--cost', 'cost', '--suggest')
    expect(runs).toEqual([])
    const rows = suggestion?.rows ?? []
    expect(rows.map(({ share }) => share)).toEqual([0.99, 0.999, 0.9999])
    expect(new Set(rows.map(({ limit }) => limit)).size).toBeGreaterThan(1)
    for (const { limit, burst } of rows) {
      const args = [log, '--cost', 'cost', '--limit', `${limit}`, '-a', 'sliding-log']
      const [run] = (await replayed(...args, '--show-clients')).runs
      const refused = new Set(run?.mostRefused.map(({ client }) => client))
      const spared = requests.filter(({ client }) => !refused.has(client))
      expect(refusesAny(spared, limit, burst)).toBe(false)
      expect(refusesAny(spared, limit, burst - 1)).toBe(true)
    }
  })

  it('leaves no file behind', async () => {
    const child = await startCli(['replay', known, '--suggest'], { TMPDIR: folder })
    child.stdin.end()
    expect((await ended(child)).code).toBe(0)
    expect(readdirSync(folder).filter((name) => name.startsWith('sluice-'))).toEqual([])
  })
})

describe('--config', () => {
  const log = file(
    'site.txt',
    [
      ['10.0.0.1', 'ann', 'GET /a'],
      ['10.0.0.1', 'ann', 'GET /a'],
      ['10.0.0.1', 'ann', 'GET /a'],
      ['10.0.0.2', '-', 'GET /a'],
      ['10.0.0.2', '-', 'GET /a'],
      ['10.0.0.2', '-', 'POST /login'],
      ['10.0.0.2', '-', 'POST /login?x'],
      ['10.0.0.2', '-', 'GET /health'],
      ['10.0.0.3', '-', 'GET /a'],
      ['192.0.2.9', '-', 'GET /a'],
    ]
      .map(([ip, user, request], i) => {
        const time = `21/Nov/2026:14:00:${String(i).padStart(2, '0')} +0000`
        return `${ip} - ${user} [${time}] "${request} HTTP/1.1" 200 5 "-" "agent/${i}"\n`
      })
      .join(''),
  )

  it('replays the options of the middleware: tiers, routes, lists, keys by user', async () => {
    const config = file(
      'sluice.config.ts',
      `interface Request { user?: { id: string }; get(name: string): string | undefined }
       const limit = async ({ user }: Request) => (user ? 3 : 1)
       export default {
         key: 'user' as const,
         policies: [
           { name: 'plan', limit, window: '1m' },
           { name: 'day', limit: 100, window: '1d', algorithm: 'fixed-window' as const },
         ],
         routes: { 'POST /login': { key: 'ip', limit: 1, window: '15m' }, '/health': false },
         allow: ['10.0.0.3'],
         deny: ['192.0.2.0/24'],
         skip: (request: Request) => request.get('user-agent') === 'agent/0',
       }`,
    )
    const { clients, runs } = await replayed(log, '--config', config, '--show-clients')
    expect(runs).toHaveLength(1)
    const [run] = runs
    expect(run).toMatchObject({
      name: 'sluice.config.ts',
      requests: 10,
      // skipped, /health, allowed
      exempt: 3,
      // the second GET /a and the second POST /login of 10.0.0.2, and the denied client
      refused: 3,
      clientsRefused: 2,
    })
    expect(clients).toBe(3)
    expect(run?.policies).toEqual([
      { name: 'plan', algorithm: 'sliding-window', windowMs: 60_000 },
      { name: 'day', algorithm: 'fixed-window', limit: 100, windowMs: 86_400_000 },
      { name: 'POST /login: default', algorithm: 'sliding-window', limit: 1, windowMs: 900_000 },
    ])
    expect(run?.most.map(({ units, client }) => [units, client])).toEqual([
      [2, 'user:ann'],
      [2, 'user:ann'],
      [1, '10.0.0.2'],
    ])
    expect(run?.mostRefused).toMatchObject([
      { client: '10.0.0.2', requests: 4, refused: 2 },
      { client: '192.0.2.9', requests: 1, refused: 1 },
    ])
  })

  it.each([
    ['limit.json', '{ "limit": 2, "window": "1m" }'],
    ['limit.mjs', "export default { limit: 2, window: '1m' }"],
    ['limit.cjs', "module.exports = { limit: 2, window: '1m' }"],
    ['limit.js', "export default { limit: 2, window: '1m' }"],
  ])('is a file such as %s', async (name, content) => {
    const [run] = (await replayed(log, '--config', file(name, content))).runs
    expect(run).toMatchObject({ admitted: 6, refused: 4 })
  })

  it('delays no request, however many a leaky bucket delays', async () => {
    const config = file(
      'leaky.json',
      '{ "limit": 1, "window": "1m", "algorithm": "leaky-bucket", "maxDelay": "1d", "key": "user" }',
    )
    const many = `${readFileSync(log, 'utf8').split('\n')[0]}\n`.repeat(1500)
    const [run] = (await replayed(file('many.txt', many), '--config', config)).runs
    expect(run).toMatchObject({ admitted: 1441, refused: 59 })
  })

  it('names the options that it cannot apply', async () => {
    const config = file(
      'settles.mjs',
      "export default { limit: 2, window: '1m', reserve: true, hold: '5s', settle: () => 5, respond() { throw 1 }, store: undefined }",
    )
    const { code, stderr } = await runCli(['replay', log, '--config', config])
    expect(code).toBe(0)
    expect(stderr).toContain('settle is not called')
  })

  it.each([
    ['wrong.json', '{ "limit": "2", "window": "1m" }', 2, 'Expected an integer'],
    ['unknown.json', '{ "limit": 2, "window": "1m", "windwo": 5 }', 2, 'windwo'],
    ['nothing.mjs', 'export default 2', 2, 'expected the options of a rate limit'],
    ['broken.mjs', 'export default {', 2, "can't be loaded"],
    [
      'throws.mjs',
      "export default { window: '1m', limit: (request) => request.session.plan.limit }",
      1,
      'a function of the configuration failed for GET /a of 10.0.0.x #1 at 2026-11-21T14:00:00.000Z',
    ],
    [
      'nonsense.mjs',
      "export default { window: '1m', limit: async () => 'many' }",
      1,
      'Expected an integer',
    ],
  ])('is refused if it is wrong: %s', async (name, content, expected, message) => {
    const { code, stderr } = await runCli(['replay', log, '--config', file(name, content)])
    expect(stderr).toContain(message)
    expect(code).toBe(expected)
  })
})

describe('--policy', () => {
  // Ten requests of each of forty clients in a minute.
  const log = file(
    'minute.txt',
    Array.from({ length: 400 }, (_, i) => {
      const time = `21/Nov/2026:14:00:${String(Math.floor(i / 40)).padStart(2, '0')} +0000`
      return `10.0.0.${i % 40} - - [${time}] "${i % 2 === 0 ? 'GET /a' : 'POST /login'} HTTP/1.1" 200 5\n`
    }).join(''),
  )
  const options = {
    name: 'api',
    policies: [
      { name: 'default', limit: 9, window: '1m', algorithm: 'fixed-window', live: true },
      { name: 'day', limit: 8, window: '1d', algorithm: 'fixed-window', live: true, dryRun: true },
    ],
    routes: { 'POST /login': { limit: 5, window: '1h', algorithm: 'fixed-window', live: true } },
  }
  const config = file('live.json', JSON.stringify(options))
  const limits = (name: string, policies: object) => file(name, JSON.stringify({ policies }))
  const withFile = (path: string) => replayed(log, '--config', config, '--policy', path)

  it('says what the document would have done, beside what the code does', async () => {
    const { runs, findings } = await withFile(
      limits('limits.json', { api: { limit: 7 }, 'api:POST /login': { limit: 8 } }),
    )
    // Clients with even numbers get pages, those with odd ones log in.
    expect(runs).toMatchObject([
      {
        ...{ name: 'live.json', refused: 20 * 1 + 20 * 5, wouldRefuse: [0, 20 * 2, 0] },
        policies: [{ limit: 9 }, { limit: 8, enforced: 0 }, { limit: 5 }],
      },
      {
        ...{ name: 'live.json with limits.json', refused: 20 * 3 + 20 * 2 },
        policies: [{ limit: 7 }, { limit: 8, enforced: 0 }, { limit: 8 }],
      },
    ])
    expect(findings).toContain('live.json: day would refuse 40 requests (10 %)')
  })

  it('also of a dry run, and of a share of the clients', async () => {
    const [code, dry] = (await withFile(limits('dry.json', { api: { dryRun: true } }))).runs
    expect([code?.refused, dry?.refused]).toEqual([120, 100])
    expect(dry?.wouldRefuse).toEqual([20, 40, 0])
    const share = limits('share.json', { 'api/day': { enforce: 0.5 } })
    const [, half] = (await withFile(share)).runs
    expect(half?.refused).toBeGreaterThan(120)
    expect(half?.refused).toBeLessThan(160)
  })

  it('is in the table, and on the page', async () => {
    const path = limits('more.json', { api: { limit: 7 } })
    const page = `${folder}/policy.html`
    const args = ['replay', log, '--config', config, '--policy', path, '--html', page]
    const { code, stdout } = await runCli(args)
    expect(code).toBe(0)
    expect(stdout).toContain('Through live.json and live.json with more.json:')
    expect(stdout).toMatch(/default: 9 per 1 min .*all together .*default: 7 per 1 min /s)
    expect(stdout).toContain('day: 8 per 1 d, a dry run')
    expect(readFileSync(page, 'utf8')).toContain('live.json with more.json')
  })

  it.each([
    [['--policy', 'limits.json', '--limit', '5'], '--policy needs --config'],
    [['--config', config, '--policy', 'nowhere.json'], "nowhere.json can't be read"],
    [
      ['--config', config, '--policy', limits('apo.json', { apo: { limit: 1 } })],
      'one of api, api/day, api:POST /login, received',
    ],
    [
      ['--config', config, '--policy', limits('large.json', { api: { limit: 1e300 } })],
      'SLUICE_OPTION_RANGE',
    ],
  ])('that is wrong is refused: %j', async (args, message) => {
    const { code, stdout, stderr } = await runCli(['replay', log, ...args])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })
})
