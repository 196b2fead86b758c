// Text that a visitor writes into a log never reaches the terminal raw or unmasked.

import { mkdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { scratch } from '@sluice/test-harness/jest'
import { complaints, runCli, runProcess } from './testing/run-cli.ts'

const { folder, file } = scratch()
const LIMIT = ['--limit', '1', '-a', 'sliding-log']

/** Clears the screen, renames the window, rings; the same in C1; turns the direction of writing. */
const EVIL = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u0085\u007f\u202egnp\u2066\u061c\u200f\r'
/** A line end is the only one that may come out. */
const OBEYED = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

const line = (client: string, user: string, rest = '"GET / HTTP/1.1" 200 5') =>
  `${client} - ${user} [21/Nov/2026:14:00:00 +0000] ${rest}\n`

/** All that a replay writes: on the terminal, and into both files. */
async function writtenBy(...args: string[]) {
  const [json, html] = [`${folder}/out.json`, `${folder}/out.html`]
  const ended = await runCli(['replay', ...args, ...LIMIT, '--json', json, '--html', html])
  const report = readFileSync(json, 'utf8')
  const page = readFileSync(html, 'utf8').replace(/<(script|style)>.*?<\/\1>/gs, '')
  return { ...ended, report, page }
}

describe('no control character of a log reaches a terminal, a report or a page', () => {
  it.each([[[]], [['--show-clients']]])(
    'from its clients, its lines and its name: %j',
    async (flags) => {
      mkdirSync(`${folder}/${EVIL}`, { recursive: true })
      const clear = line(`203.0.113.7${EVIL}`, `ann${EVIL}`).repeat(3)
      const log = file(`${EVIL}/${EVIL}.log`, clear + line('203.0.113.9', EVIL, `GET ${EVIL}`))
      const { code, stdout, stderr, report, page } = await writtenBy(log, ...flags)
      expect({ code, stderr: complaints(stderr) }).toEqual({ code: 0, stderr: '' })
      for (const text of [stdout, report, page]) expect(text).not.toMatch(OBEYED)
      expect(stdout).toContain('\\u001b')
      // In JSON a backslash is two.
      expect(report).toContain('\\\\u202e')
      expect(page).toContain('\\u009b31m')
    },
  )

  it.each([
    ['the first line, and the name of a file', [file(`${EVIL}.txt`, `${EVIL}\n`)], 1, 'it begins'],
    ['names of fields', [file('names.txt', JSON.stringify({ [EVIL]: 1 }))], 1, 'the line has'],
    ['an unknown option', [`--${EVIL}`], 2, 'unknown option'],
  ])('from %s', async (_, args, expected, why) => {
    const { code, stdout, stderr } = await runCli(['replay', ...args, ...LIMIT, '--show-clients'])
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' })
    expect(stderr).toContain(why)
    expect(stderr).toContain('\\u202e')
    expect(stderr).not.toMatch(OBEYED)
  })

  it.each([
    ['what it throws', 'throw Object.assign(Object.create(null), { said: url })'],
    [
      'what it says behind our back',
      'process.emitWarning(url); Promise.reject(new Error(url)); return new Promise((go) => setImmediate(go, 5))',
    ],
  ])('from a function of --config, by %s', async (_, body) => {
    const url = `/${EVIL}\nsluice: all is well`
    const log = file('url.jsonl', JSON.stringify({ time: 1_795_269_600, ip: '192.0.2.1', url }))
    const config = file('throws.mjs', `export default { window: '1m', limit({ url }) { ${body} } }`)
    const { code, stderr } = await runProcess(['replay', log, '-c', config, '--show-clients'])
    expect(code).toBe(1)
    expect(stderr).toContain('all is well')
    // A line of the log cannot look like a message either.
    expect(stderr).not.toMatch(/^sluice: all/m)
    expect(stderr).not.toMatch(OBEYED)
  })
})

describe('without --show-clients nothing names a client', () => {
  const SECRET =
    /203\.0\.113\.\d|198\.51\.100\.\d|annabel|example\.com|2001:db8:1|2001:db8::7|topsecret|private-folder/

  it('not lines, reasons or the folder of the log', async () => {
    mkdirSync(`${folder}/private-folder`)
    const log = file(
      'private-folder/access.log',
      line('203.0.113.7', 'annabel').repeat(2) +
        line('2001:db8:1:200::7', '-').repeat(2) +
        '198.51.100.7 - annabel [nonsense] "GET /?mail=annabel@example.com HTTP/1.1" 200 5\n' +
        '2001:db8::7 - annabel@example.com\n',
    )
    const { stdout, stderr, report, page } = await writtenBy(log)
    for (const text of [stdout, stderr, report, page]) expect(text).not.toMatch(SECRET)
    expect(stdout).toContain('access.log:5: no [time]')
    expect(stdout).toContain('000.00.000.0 - xxxxxxx [xxxxxxxx] "xxx')
    expect(stdout).toContain('--show-clients')
    expect(report).toContain('"2001:db8:x #2"')
    expect(JSON.parse(report)).toMatchObject({ source: { names: ['access.log'], masked: true } })
  })

  it('not the message where a function of --config fails', async () => {
    const log = file(
      'fails.jsonl',
      JSON.stringify({ time: 1, ip: '203.0.113.7', user: 'annabel', url: '/annabel?k=topsecret' }),
    )
    const config = file(
      'fails.mjs',
      `export default { window: '1m', limit({ ip, user, url }) {
         throw new Error([ip, user.id, url, 'b@example.com', '2001:db8::7'].join(' ') + ' has no plan')
       } }`,
    )
    const { code, stderr } = await runCli(['replay', log, '-c', config])
    expect(code).toBe(1)
    expect(stderr).toContain('of 203.0.113.x #1 at 1970-01-01T00:00:01.000Z')
    expect(stderr).toContain('has no plan')
    expect(stderr).not.toMatch(SECRET)
  })
})

it('what is shown of a log is short, however long its lines are', async () => {
  const long = 'a'.repeat(900_000)
  const lines = [{ time: long, ip: 'x' }, { [long]: 1 }, { time: 1, ip: long }]
  const log = file(
    'long.jsonl',
    lines.map((each) => `${JSON.stringify(each)}\n`.repeat(2)).join(''),
  )
  const { stdout, stderr, report, page } = await writtenBy(log, '--show-clients')
  for (const text of [stdout, stderr, report]) expect(text.length).toBeLessThan(10_000)
  expect(page.length).toBeLessThan(200_000)
})
