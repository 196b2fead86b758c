import { PassThrough } from 'node:stream'
import { until } from '@sluice/test-harness/redis'
import type { Io } from '../io.ts'

/** The input and output of a command, in a terminal or in none. */
export interface FakeTerminal extends Io {
  readonly stdin: PassThrough & { readonly isTTY: boolean; isRaw: boolean }
  /** All that was written so far. */
  out(): string
  err(): string
  /** Waits until the output matches. */
  shows(pattern: RegExp): Promise<void>
}

export function fakeTerminal(isTTY: boolean, size = { columns: 120, rows: 12 }): FakeTerminal {
  const stdin = Object.assign(new PassThrough(), {
    isTTY,
    isRaw: false,
    setRawMode(isRaw: boolean) {
      stdin.isRaw = isRaw
    },
  })
  const [stdout, stderr] = [recorder(), recorder()]
  const out = () => stdout.text
  return {
    stdin,
    stdout: Object.assign(stdout.stream, { isTTY, ...size }),
    stderr: stderr.stream,
    out,
    err: () => stderr.text,
    shows: async (pattern) => {
      await until(async () => pattern.test(out()), {
        everyMs: 10,
        what: `${pattern}`,
      })
    },
  }
}

function recorder() {
  const recorded = { stream: new PassThrough(), text: '' }
  recorded.stream.on('data', (chunk) => {
    recorded.text += chunk
  })
  return recorded
}
