#!/usr/bin/env node
import {
  commandLine,
  endProcess,
  guardProcess,
  parseCommandLine,
} from '@sluice/terminal/command-line'
import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import type { MigrateFlags } from './migrate-command.ts'

const EXAMPLES = `
Examples:
  npx @sluice/migrate src/server.ts
  npx @sluice/migrate src/server.ts > limits.patch
  npx @sluice/migrate --write src/server.ts src/routes/login.ts

Exit codes: 0 done, 1 a file could not be read, parsed or written, 2 wrong usage.`

let code: ExitCode = EXIT.ok

guardProcess('sluice-migrate')
const program = commandLine('sluice-migrate', new URL('../package.json', import.meta.url), process)
  .description(
    'Reads files that use express-rate-limit, @fastify/rate-limit, koa-ratelimit, ' +
      'hono-rate-limiter, rate-limiter-flexible, @nestjs/throttler or @upstash/ratelimit, and ' +
      'prints the code for Sluice as a diff, with comments where something behaves differently, or stays as it is. ' +
      'Reads JavaScript, JSX and TypeScript. Executes nothing.',
  )
  .argument('<files...>', 'the files to read')
  .option('--write', 'write the files, instead of printing the diff')
  .addHelpText('after', EXAMPLES)
  .action(async (files: string[], flags: MigrateFlags) => {
    // The parser is large, and `--help` does not need it.
    const { migrateCommand } = await import('./migrate-command.ts')
    code = migrateCommand(files, flags, process)
  })
const wrong = await parseCommandLine(program, process.argv.slice(2), process, () => EXIT.failed)
endProcess('sluice-migrate', wrong ?? code)
