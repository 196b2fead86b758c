import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { fakeTerminal } from '@sluice/terminal/testing/fake-terminal'
import { scratch } from '@sluice/test-harness/jest'
import { applyPatch } from 'diff'
import { migrateCommand } from './migrate-command.ts'

const { folder, file } = scratch()
const directory = join(folder, 'dir.js')
mkdirSync(directory)

const BEFORE =
  "const rateLimit = require('express-rate-limit')\n\nmodule.exports = rateLimit({ windowMs: 60000, max: 5, legacyHeaders: false })\n"

function migrate(files: readonly string[], flags = {}, isTTY = false) {
  const io = fakeTerminal(isTTY)
  const code = migrateCommand(files, flags, io)
  return { code, out: io.out(), err: io.err() }
}

describe('sluice-migrate', () => {
  it('prints a diff that patch reads, and changes no file', () => {
    const path = file('diff.js', BEFORE)
    const { code, out, err } = migrate([path])
    expect(code).toBe(0)
    expect(out).toMatch(/^--- a.*diff\.js\n\+\+\+ b.*diff\.js\n@@ /)
    expect(applyPatch(BEFORE, out)).toContain(
      "rateLimit({ window: '1m', limit: 5, headers: false, algorithm: 'sliding-log' })",
    )
    expect(err).toContain('1 call rewritten, 0 calls unchanged.')
    expect(err).toContain('npm install @sluice/express')
    expect(readFileSync(path, 'utf8')).toBe(BEFORE)
  })

  it('says what stays as it is, with its line', () => {
    const path = file('left.js', `${BEFORE}rateLimit({ max: 0 })\n`)
    const { code, out, err } = migrate([path])
    expect(code).toBe(0)
    expect(out).toContain('+// sluice: this stays as it is. A limit of 0')
    expect(err).toContain(`${path}:4: stays as it is. A limit of 0`)
    expect(err).toContain('1 call rewritten, 1 call unchanged.')
  })

  it('names nothing to install where nothing is rewritten', () => {
    const path = file('kept.js', "const Bottleneck = require('bottleneck')\nnew Bottleneck({})\n")
    const { err } = migrate([path])
    expect(err).toContain('Read the comments that begin with "sluice:".\n')
    expect(err).toContain('0 calls rewritten, 1 call unchanged.')
    expect(err).not.toContain('npm install')
  })

  describe('keeps all files of an application as they are where one needs another one', () => {
    const route =
      "app.post('/login', { config: { rateLimit: { max: 5, timeWindow: 1000 } } }, login)\n"
    const plugin = "app.register(require('@fastify/rate-limit'), { max: 100, ban: 0 })\n"
    const routes = file('routes.js', `${route}${route}`)
    const main = file('main.js', `// first\n${plugin}`)

    it('and names the file, the line and the reason, of the culprit its own', () => {
      expect(migrate([routes]).out).toContain('+app.post(')
      const { out, err } = migrate([routes, main])
      expect(out).not.toContain('+app.post(')
      // The line is the one that it will have, behind two lines of comment.
      const joint =
        'It works only together with ./main.js:4, which stays. There: ban: { after, within, for } takes its place'
      expect(err).toContain(`${routes}:1: stays as it is. ${joint}`)
      expect(err).toContain(`${routes}:2: stays as it is. ${joint}`)
      expect(err).toContain(`${main}:2: stays as it is. ban: { after, within, for }`)
      expect(err).toContain('0 calls rewritten, 3 calls unchanged.')
    })

    it('also when they are read again', () => {
      migrate([routes, main], { write: true })
      const texts = () => [routes, main].map((path) => readFileSync(path, 'utf8'))
      const before = texts()
      expect(before[1]?.split('\n')[3]).toContain('register')
      const { err } = migrate([routes, main], { write: true })
      expect(texts()).toEqual(before)
      expect(err).toContain('./main.js:4, which stays. There: ban: { after, within, for }')
    })

    it('until what was in the way is rewritten: then no comment says that they stay', () => {
      writeFileSync(main, readFileSync(main, 'utf8').replace(', ban: 0', ''))
      const { err } = migrate([routes, main], { write: true })
      expect(err).toContain('3 calls rewritten, 0 calls unchanged.')
      for (const path of [routes, main])
        expect(readFileSync(path, 'utf8')).not.toContain('this stays as it is')
    })
  })

  it('reads in package.json which client of Redis there is', () => {
    file('package.json', '{ "dependencies": { "redis": "^3.1.2" } }')
    const path = file(
      'redis.js',
      `const { rateLimit } = require('express-rate-limit')
const { RedisStore } = require('rate-limit-redis')
const client = require('./client')
rateLimit({ max: 5, store: new RedisStore({ sendCommand: (...args) => client.sendCommand(args) }) })
`,
    )
    expect(migrate([path]).err).toContain(`${path}:4: stays as it is. The client of Redis is of`)
    file('package.json', 'no JSON')
    expect(migrate([path]).err).toContain('1 call rewritten, 0 calls unchanged.')
  })

  it('shows nothing on a terminal that it obeys', () => {
    const path = file('evil.js', `// \u001b]0;owned\u0007\n${BEFORE}`)
    const { out } = migrate([path], {}, true)
    expect(out).toContain('\\u001b]0;owned\\u0007')
    expect(out).toContain('\u001b[32m+')
  })

  it('writes with --write: the mode stays, nothing is left behind, and once is enough', () => {
    const path = file('write.js', BEFORE.replaceAll('\n', '\r\n'))
    chmodSync(path, 0o750)
    const before = readdirSync(folder)
    expect(migrate([path, path], { write: true })).toMatchObject({ code: 0, out: '' })
    const text = readFileSync(path, 'utf8')
    expect(text).toContain("require('@sluice/express')\r\n")
    expect(text.replaceAll('\r\n', '')).not.toContain('\n')
    expect(statSync(path).mode & 0o777).toBe(0o750)
    expect(readdirSync(folder)).toEqual(before)
    const again = migrate([path], { write: true })
    expect(again).toMatchObject({
      code: 0,
      err: expect.stringContaining('uses none of express-rate-limit'),
    })
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  it('keeps a byte order mark', () => {
    const path = file('mark.js', `\ufeff${BEFORE}`)
    migrate([path], { write: true })
    expect(readFileSync(path, 'utf8')).toMatch(/^\ufeffconst \{ rateLimit \}/)
  })

  it('goes on after a file that fails, and ends with 1', () => {
    const [broken, good] = [file('broken.ts', 'const a = {\n  b: ,\n}\n'), file('good.js', BEFORE)]
    const { code, err } = migrate([broken, join(folder, 'nowhere.js'), good], { write: true })
    expect(code).toBe(1)
    expect(err).toContain(
      `sluice-migrate: ${broken}:2:6: expected JavaScript or TypeScript. Unexpected token`,
    )
    expect(err).toContain('nowhere.js: there is no such file')
    expect(readFileSync(good, 'utf8')).toContain('@sluice/express')
    expect(readFileSync(broken, 'utf8')).toContain('b: ,')
  })

  it.each([
    ['a folder', () => directory, 'this is a directory'],
    ['bytes', () => file('bytes.js', Buffer.from([0xff, 0xfe, 0x61])), 'expected text in UTF-8'],
    ['another ending', () => file('a.json', '{}'), 'expected a file of JavaScript or TypeScript'],
  ])('refuses %s', (_, make, reason) => {
    const { code, err } = migrate([make()], { write: true })
    expect(code).toBe(1)
    expect(err).toContain(reason)
  })

  it('writes to no other file: not through a link, and not beside one', () => {
    const target = file('target.js', BEFORE)
    const link = join(folder, 'link.js')
    symlinkSync(target, link)
    expect(migrate([link], { write: true }).err).toContain('this is a symbolic link')
    linkSync(target, join(folder, 'hard.js'))
    expect(migrate([target], { write: true }).err).toContain('has other names')
    expect(readFileSync(target, 'utf8')).toBe(BEFORE)
    expect(migrate([link]).out).toContain('+++ b')
  })
})
