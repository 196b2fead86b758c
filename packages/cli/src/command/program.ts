import { readFileSync } from 'node:fs'
import { ALGORITHM_NAMES } from '@sluice/core/algorithms'
import { Command, Option } from 'commander'
import { FORMATS } from '../log/formats/format.ts'
import type { ReplayFlags } from './flags.ts'
import { say } from './say.ts'

const EXAMPLES = `
Examples:
  sluice replay access.log --limit 100 --window 1m
  sluice replay access.log.*.gz access.log --limit 100 --window 1m --suggest
  sluice replay requests.jsonl --key user.id --time at --cost tokens --limit 50000 --window 1h
  sluice replay access.log --config sluice.config.ts --fail-if-refused 0.1%
  zcat access.log.gz | sluice replay --window 1m --suggest

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused more than --fail-if-refused, 130 interrupted.`

/** The command line. @param replay called with what was asked for */
export function createProgram(
  replay: (files: string[], flags: ReplayFlags) => Promise<void>,
): Command {
  const program = new Command('sluice')
    .description('Rate limiting, tried on your own traffic before it is switched on.')
    .version(version(), '-V, --version')
    .showHelpAfterError('(sluice replay --help lists all options)')
    .exitOverride()
    .configureOutput({ writeErr: (text) => say(text.trimEnd()) })
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
    .option('-c, --config <file>', "a file (.ts, .js, .json) with the middleware's own options")
    .option(
      '--suggest',
      'suggest limits by which 99 %, 99.9 %, 99.99 % of clients are never refused',
    )
    .optionsGroup('The log:')
    .addOption(new Option('-f, --format <format>', 'instead of finding it out').choices(FORMATS))
    .option(
      '--key <field>',
      'what identifies a client: a path or column; combined: ip (default), user',
    )
    .option('--time <field>', 'JSON, CSV: where the time is')
    .option('--cost <field>', 'JSON, CSV: where the cost is (default: each request costs 1)')
    .optionsGroup('The report:')
    .option('--json [file]', 'as JSON, to standard output or into a .json file')
    .option('--html <file>', 'as a page with charts, which needs nothing else')
    .option('--show-clients', 'show addresses and users in full')
    .option('--fail-if-refused <share>', 'exit with 3 if a run refuses more, such as 0.1% or 0.001')
    .addHelpText('after', EXAMPLES)
    .action(replay)
  return program
}

function version(): string {
  // In the sources and in what is built it is two folders above.
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
