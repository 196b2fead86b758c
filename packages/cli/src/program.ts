import { ALGORITHM_NAMES } from '@sluice/core/algorithms'
import { commandLine, parseCommandLine } from '@sluice/terminal/command-line'
import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import type { Io } from '@sluice/terminal/io'
import { UsageError } from '@sluice/terminal/usage-error'
import { type Command, Option } from 'commander'
import { FORMATS } from './log/formats/reading.ts'
import type { Change } from './operate/change.ts'
import type { Connection } from './operate/connection.ts'
import { type LimitFlags, ORDERS, type StoreFlags } from './operate/flags.ts'
import type { PolicyAction } from './operate/policy/policy-command.ts'
import { StoreFailure } from './operate/store-failure.ts'

const EXAMPLES = `
Examples:
  sluice replay access.log --limit 100 --window 1m
  sluice replay access.log.*.gz access.log --limit 100 --window 1m --suggest
  sluice replay requests.jsonl --key user.id --time at --cost tokens --limit 50000 --window 1h
  sluice replay access.log --config sluice.config.ts --fail-if-refused 0.1%
  zcat access.log.gz | sluice replay --window 1m --suggest

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused more than --fail-if-refused, 130 interrupted.`

/** What a command meets around it. */
export interface Surroundings {
  readonly io: Io
  /** Aborted when nobody reads the output any more. */
  readonly unread: AbortSignal
  /** The first of these signals aborts what it returns, a second one ends the process. */
  interrupted(...signals: readonly NodeJS.Signals[]): AbortSignal
}

/** Runs `sluice`. @param args the words behind its name */
export async function sluice(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok
  const end = (ended: ExitCode) => {
    code = ended
  }
  const program = createProgram({ ...surroundings, end })
  return (await parseCommandLine(program, args, surroundings.io, codeOf)) ?? code
}

function codeOf(error: unknown): ExitCode {
  if (error instanceof StoreFailure) return EXIT.store
  // By its name: its class would load all of core.
  const isMistake = error instanceof UsageError || (error as Error | null)?.name === 'SluiceError'
  return isMistake ? EXIT.usage : EXIT.failed
}

/** Takes the exit code of what was run. */
type Running = Surroundings & { readonly end: (code: ExitCode) => void }

/** The command line of `sluice`. */
export function createProgram(running: Running): Command {
  const program = commandLine('sluice', new URL('../package.json', import.meta.url), running.io)
  program
    .description('Rate limiting: watch it and operate it, and try limits on your own traffic.')
    .showHelpAfterError('(sluice help <command> lists all options)')
  addReplay(program, running)
  addOperations(program, running)
  addPolicy(program, running)
  addMigrate(program, running)
  return program
}

// Each command loads what it needs when it is called: the person on call is in a hurry.
const onCall = () => import('./operate/on-call.ts')
type OnCall = Awaited<ReturnType<typeof onCall>>

/** Runs a command on the store that the flags name. */
async function onStoreOf(
  flags: StoreFlags,
  run: (connection: Connection, commands: OnCall) => Promise<ExitCode>,
): Promise<ExitCode> {
  const commands = await onCall()
  return commands.onStore(flags, (connection) => run(connection, commands))
}

function addReplay(program: Command, { io, end, interrupted }: Running): void {
  program
    .command('replay')
    .summary('play an access log through rate limits')
    .description(
      'Plays access logs through rate limits, in their own time, and shows what each algorithm ' +
        'would have done to real clients. Reads combined and common logs of nginx and Apache, ' +
        'JSON lines, and CSV with a header; gzip or not; without a file, standard input.',
    )
    .argument('[files...]', 'logs in the order of time; - is standard input')
    .optionsGroup('The limits:')
    .option('-l, --limit <units>', 'requests (units of cost) per window')
    .option('-w, --window <duration>', 'such as 1s, 1m, 1h, 1d, or in ms; or day, week, month')
    .option('--time-zone <name>', 'day, week, month: where days begin (default: UTC)')
    .option('-a, --algorithm <names>', `some of ${ALGORITHM_NAMES.join(', ')} (default: all)`)
    .option('--burst <units>', 'token bucket: what it holds (default: the limit)')
    .option('--max-delay <duration>', 'leaky bucket: the longest wait (default: 1s)')
    .option('--concurrent <requests>', 'requests of a client at the same time; needs --duration')
    .option('--ban <after/within/for>', 'ban clients that are refused: such as 3/1h/1m,10m,1d')
    .option('-c, --config <file>', "a file (.ts, .js, .json) with the middleware's own options")
    .option('--policy <file>', 'with --config: also what this file of limits would have done')
    .option(
      '--suggest',
      'suggest limits by which 99 %, 99.9 %, 99.99 % of clients are never refused',
    )
    .optionsGroup('The log:')
    .option(
      '-f, --format <format>',
      `instead of finding it out: ${FORMATS.join(', ')}, or a log_format of nginx, a LogFormat of Apache, in single quotes`,
    )
    .option(
      '--key <field>',
      'what identifies a client: a path, column or field; combined: ip (default), user',
    )
    .option('--time <field>', 'JSON, CSV: where the time is')
    .option('--cost <field>', 'JSON, CSV: where the cost is (default: each request costs 1)')
    .option(
      '--duration <unit>',
      'how long requests took: s, ms or us at the end of each line; JSON, CSV, patterns: field:unit',
    )
    .addOption(
      new Option('--logged-at <moment>', 'with --duration: which moment the time is').choices([
        'end',
        'start',
      ]),
    )
    .optionsGroup('The report:')
    .option('--json [file]', 'as JSON, to standard output or into a .json file')
    .option('--html <file>', 'as a page with charts, which needs nothing else')
    .option('--show-clients', 'show addresses and users in full')
    .option('--fail-if-refused <share>', 'exit with 3 if a run refuses more, such as 0.1% or 0.001')
    .addHelpText('after', EXAMPLES)
    .action(async (files, flags) => {
      const { replayCommand } = await import('./command/replay-command.ts')
      end(await replayCommand(files, flags, io, interrupted('SIGINT')))
    })
}

function addOperations(program: Command, { io, unread, end, interrupted }: Running): void {
  const change = async (key: string, flags: LimitFlags, changeOf: (commands: OnCall) => Change) =>
    end(
      await onStoreOf(flags, (store, commands) =>
        commands.changeCommand(changeOf(commands), key, flags, store, io),
      ),
    )
  onStore(program.command('top'))
    .summary('who is nearest to, or over, which limit')
    .description(
      'Shows the clients that are nearest to a limit, or over it: a table that is drawn again and ' +
        'again, or lines where there is no terminal. It only reads, in small steps.',
    )
    .option('-n, --count <rows>', 'how many', '20')
    .option('--every <duration>', 'the pause between two readings', '2s')
    .addOption(
      new Option('--sort <order>', 'what they are ordered by').choices(ORDERS).default('share'),
    )
    .option('--once', 'read once, and end; after a second, what was read until then')
    .option('--json', 'a line of JSON for each reading')
    .action(async (flags) => {
      const run = async (store: Connection) => {
        const { topCommand } = await import('./operate/top-command.ts')
        const ending = AbortSignal.any([unread, interrupted('SIGINT', 'SIGTERM')])
        return topCommand(flags, store, io, ending)
      }
      end(await onStoreOf(flags, run))
    })
  onKey(program.command('inspect'))
    .summary('how one client stands, in every policy')
    .description('Shows how a client stands in every policy. It only reads.')
    .action(async (key, flags) =>
      end(
        await onStoreOf(flags, (store, { inspectCommand }) =>
          inspectCommand(key, flags, store, io),
        ),
      ),
    )
  onKey(program.command('reset'))
    .summary('make the quotas of a client full')
    .description('Makes the quotas of a client full, and ends its blocks and bans.')
    .option('-y, --yes', 'do not ask')
    .action((key, flags) => change(key, flags, () => ({ action: 'reset' })))
  onKey(program.command('block'), '<duration>')
    .summary('refuse a client for a time')
    .description(
      'Refuses every request of a client for a time, such as 1h. Then its quotas are full.',
    )
    .option('-y, --yes', 'do not ask')
    .action((key, duration, flags) => change(key, flags, ({ blockFor }) => blockFor(duration)))
  onKey(program.command('unblock'))
    .summary('end the blocks and bans of a client')
    .description('Ends the blocks and bans of a client. Its quotas there are full then.')
    .option('-y, --yes', 'do not ask')
    .action((key, flags) => change(key, flags, () => ({ action: 'unblock' })))
  onKey(
    program.command('limit'),
    '[units]',
    'units per window, in place of the limit of the policy',
  )
    .summary('give a client a limit of its own')
    .description(
      'Gives a client a limit of its own in one policy, in place of the limit of the policy. What it has used stays counted.',
    )
    .option('--for <duration>', 'for how long, such as 30d (default: until it is ended)')
    .option('--end', 'end it: the limit is the one of the policy again')
    .option('-y, --yes', 'do not ask')
    .action((key, units, flags) => change(key, flags, ({ limitTo }) => limitTo(units, flags)))
  onClients(program.command('serve'))
    .summary('the same as a page')
    .description(
      'Serves a page for operators: top clients, clients at their limit over time, the health of the store, reset and block.',
    )
    .option('--host <name>', 'where it listens: this machine only', '127.0.0.1')
    .option('--port <number>', 'its port; 0 is any that is free', '0')
    .option('--every <duration>', 'the pause between two readings while somebody looks', '2s')
    .action(async (flags) => {
      const run = async (store: Connection) => {
        const { serveCommand } = await import('./operate/serve/serve-command.ts')
        return serveCommand(flags, store, io, interrupted('SIGINT', 'SIGTERM'))
      }
      end(await onStoreOf(flags, run))
    })
}

/** Adds `policy`, and its commands for live policies. */
function addPolicy(program: Command, { io, end }: Running): void {
  const group = program
    .command('policy')
    .summary('change limits while applications run')
    .description('Shows and changes the limits of policies that have the option live.')
  const add = (name: PolicyAction, summary: string) =>
    storeOptions(group.command(name))
      .description(summary)
      .option('--json', 'as JSON')
      .action(async (...given) => {
        // Behind the arguments come the flags, and the command itself.
        const [argument, flags] = given.length > 2 ? given : [undefined, given[0]]
        end(
          await onStoreOf(flags, (store, { policyCommand }) =>
            policyCommand(name, argument, flags, store, io),
          ),
        )
      })
  add('list', 'Shows what is in force: in the store, in the code, and who changed it.').option(
    '--all',
    'read all keys for clients with a limit of their own (default: for 2 s)',
  )
  onChange(add('set', 'Sets some settings of a policy, in every process within 2 s.'))
    .argument('<name>', 'the policy, as list shows it')
    .option('--limit <units>', 'per window')
    .option('--burst <units>', 'token bucket: what it holds')
    .option('--max-delay <duration>', 'leaky bucket: the longest wait')
    .option('--concurrent <requests>', 'of a client at the same time')
    .option('--alert-at <shares>', 'of the limit, such as 0.8,1 or 80%,100%')
    .option('--dry-run', 'count and report, refuse nobody')
    .option('--enforce <share>', 'refuse this share of the clients, such as 10%; 100% is everybody')
    .option(
      '--for <duration>',
      'for how long, such as 1h (default: until it is changed; ends what was set for a time)',
    )
    .option('--preview', 'count which clients would have nothing left now, and change nothing')
  onChange(add('unset', 'Lets the code decide a policy again.')).argument(
    '<name>',
    'the policy, as list shows it',
  )
  onChange(
    add('apply', 'Sets what a file says, and nothing else: others have the limits of their code.'),
  ).argument('<file>', 'such as limits.json: { "policies": { "api": { "limit": 200 } } }')
  add('diff', 'Shows what apply would change.').argument('<file>', 'such as limits.json')
  add('history', 'Shows the last changes, up to 50, the newest first.')
  onChange(add('rollback', 'Brings back the settings from before a change.')).argument(
    '[number]',
    'of the change: later ones are undone too (default: the last one)',
  )
}

function onChange(command: Command): Command {
  return command
    .option('--by <name>', 'who changes it, for the history (default: you)')
    .option('-y, --yes', 'do not ask')
}

/** Adds `migrate`, whose options are those of the package that does it. */
function addMigrate(program: Command, { end }: Running): void {
  program
    .command('migrate')
    .summary('rewrite code of another limiter: npx @sluice/migrate')
    .argument('[arguments...]')
    .allowUnknownOption()
    .helpOption(false)
    .action(async (args) => {
      const { handOver } = await import('./command/hand-over.ts')
      end(handOver(args))
    })
}

/** @param further arguments behind the key */
function onKey(command: Command, further = '', means = 'such as 30s, 15m, 1h, 1d'): Command {
  command.argument(
    '<key>',
    'the client: its address, a network such as 203.0.113.0/24, or the key as the limiter has it; block and unblock: - is a list of networks in standard input',
  )
  if (further !== '') command.argument(further, means)
  return onClients(command).option('--json', 'as JSON')
}

function onClients(command: Command): Command {
  return onStore(command).option(
    '--ipv6-prefix <bits>',
    'of the addresses: as the limiter has it',
    '56',
  )
}

function onStore(command: Command): Command {
  return storeOptions(command).option('--policy <name>', 'only policies of this name')
}

function storeOptions(command: Command): Command {
  return command
    .option('--redis <url>', 'redis://, rediss:// or redis+sentinel:// (default: $REDIS_URL)')
    .option('--postgres <url>', 'postgres:// or postgresql:// (default: $DATABASE_URL)')
    .option('--mysql <url>', 'mysql:// or mariadb:// (default: $DATABASE_URL)')
    .option('--sqlite <file>', 'the file of an sqliteStore')
    .option('--schema <name>', 'PostgreSQL: the schema of the table (default: public)')
    .option(
      '--client <file>',
      'a file (.ts, .js) that exports your own client or pool, or makes one',
    )
    .option('--prefix <prefix>', 'the namespace of the keys', 'sluice')
}
