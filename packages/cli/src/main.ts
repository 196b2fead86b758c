#!/usr/bin/env node
import { commandLine, guardProcess, runCommandLine } from '@sluice/terminal/command-line'
import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import { UsageError } from '@sluice/terminal/usage-error'
import { addCommands } from './command/program.ts'
import type { LimitFlags } from './operate/flags.ts'
import { StoreFailure } from './operate/store-failure.ts'

let code: ExitCode = EXIT.ok

// An asynchronous error in a user's function may quote the log too.
const unread = guardProcess('sluice')

/** The first of these signals ends the command in order, a second one ends the process. */
function interrupted(...signals: readonly NodeJS.Signals[]): AbortSignal {
  const interrupt = new AbortController()
  for (const signal of signals) process.once(signal, () => interrupt.abort())
  return interrupt.signal
}

async function change(
  action: 'reset' | 'unblock' | { readonly block: string } | { readonly limit: string | undefined },
  ...[key, flags]: [string, LimitFlags]
): Promise<void> {
  const { blockFor, changeCommand, limitTo, onStore } = await import('./operate/on-call.ts')
  const asked =
    typeof action === 'string'
      ? { action }
      : 'block' in action
        ? blockFor(action.block)
        : limitTo(action.limit, flags)
  code = await onStore(flags, (store) => changeCommand(asked, key, flags, store, process))
}

// Each command loads what it needs when it is called: the person on call is in a hurry.
const program = commandLine('sluice', new URL('../package.json', import.meta.url))
addCommands(program, {
  replay: async (files, flags) => {
    const { replayCommand } = await import('./command/replay-command.ts')
    code = await replayCommand(files, flags, interrupted('SIGINT'))
  },
  top: async (flags) => {
    const { onStore } = await import('./operate/on-call.ts')
    code = await onStore(flags, async (store) => {
      const { topCommand } = await import('./operate/top-command.ts')
      const ending = AbortSignal.any([unread, interrupted('SIGINT', 'SIGTERM')])
      return topCommand(flags, store, process, ending)
    })
  },
  inspect: async (key, flags) => {
    const { inspectCommand, onStore } = await import('./operate/on-call.ts')
    code = await onStore(flags, (store) => inspectCommand(key, flags, store, process))
  },
  reset: (key, flags) => change('reset', key, flags),
  block: (key, duration, flags) => change({ block: duration }, key, flags),
  unblock: (key, flags) => change('unblock', key, flags),
  limit: (key, limit, flags) => change({ limit }, key, flags),
  serve: async (flags) => {
    const { onStore } = await import('./operate/on-call.ts')
    code = await onStore(flags, async (store) => {
      const { serveCommand } = await import('./operate/serve/serve-command.ts')
      return serveCommand(flags, store, process, interrupted('SIGINT', 'SIGTERM'))
    })
  },
  policy: async (asked, flags) => {
    const { onStore, policyCommand } = await import('./operate/on-call.ts')
    code = await onStore(flags, (store) => policyCommand(asked, flags, store, process))
  },
  migrate: async (args) => {
    const { handOver } = await import('./command/hand-over.ts')
    code = handOver(args)
  },
})
await runCommandLine(program, () => code, codeOf)

function codeOf(error: unknown): ExitCode {
  if (error instanceof StoreFailure) return EXIT.store
  // By its name: its class would load all of core.
  const isMistake = error instanceof UsageError || (error as Error | null)?.name === 'SluiceError'
  return isMistake ? EXIT.usage : EXIT.failed
}
