import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { whyNoTls } from './tls.ts'

test.each([
  ['asks for its certificate', '# No tls-cert-file configured!', undefined],
  [
    'does not know the option',
    '>>> tls-port "1"\nBad directive',
    'the server is built without TLS',
  ],
  ['has no listener', '# Failed finding TLS support.', 'the server is built without TLS'],
])('a server that, given a TLS port, %s', (_, log, expected) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tls-'))
  const server = join(folder, 'redis-server')
  writeFileSync(server, `#!/bin/sh\ncat >&2 <<'END'\n${log}\nEND\nexit 1\n`, { mode: 0o755 })
  expect(whyNoTls(server)).toBe(expected)
  rmSync(folder, { recursive: true })
})
