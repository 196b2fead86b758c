import { writeFileSync } from 'node:fs'
import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import type { Io } from '@sluice/terminal/io'
import { printableReport } from '@sluice/terminal/printable'
import { say } from '@sluice/terminal/say'
import { UsageError } from '@sluice/terminal/usage-error'
import pico from 'picocolors'
import { Clients } from '../log/clients.ts'
import { durationField } from '../log/formats/duration.ts'
import { formatOf } from '../log/formats/format-of.ts'
import { LogInput } from '../log/input/read-log.ts'
import { sourcesOf } from '../log/input/source.ts'
import { type Mask, masked, unmasked } from '../log/mask.ts'
import { type ReplayFlags, shareOf } from '../replay/flags.ts'
import { planFlags } from '../replay/plan-flags.ts'
import { Replay } from '../replay/replay.ts'
import type { ReplayPlan } from '../replay/replay-plan.ts'
import type { SharedWindow } from '../replay/statistics/shared-window.ts'
import { Spool } from '../replay/statistics/spool.ts'
import { buildReport } from '../report/build.ts'
import { toJson } from '../report/json.ts'
import type { Report } from '../report/report.ts'
import { suggest } from '../report/suggest.ts'
import { toText } from '../report/text.ts'
import { type Progress, startProgress } from './progress.ts'
import { checkReportFile } from './report-file.ts'

/**
 * `sluice replay`.
 * @param signal ends the reading: the report then covers the requests until then
 * @throws UsageError, SluiceError, InputError, and the errors of the user's functions
 */
export async function replayCommand(
  files: readonly string[],
  flags: ReplayFlags,
  io: Io,
  signal: AbortSignal,
): Promise<ExitCode> {
  const { config, policy } = flags
  const names = namesOf(files, io)
  const inputs = [...names, ...[config, policy].filter((file) => file !== undefined)]
  const check = () => {
    if (typeof flags.json === 'string') checkReportFile('--json', flags.json, inputs)
    if (flags.html !== undefined) checkReportFile('--html', flags.html, inputs)
  }
  check()
  const { failIfRefused } = flags
  const admissible = failIfRefused === undefined ? 1 : shareOf('--fail-if-refused', failIfRefused)
  const clients = new Clients()
  const mask = flags.showClients ? unmasked : masked
  const plan = await planOf(flags, clients, mask)
  const sources = sourcesOf(names)
  const { key, time, cost, format } = flags
  const duration =
    flags.duration === undefined ? undefined : durationField(flags.duration, flags.loggedAt)
  const named = format === undefined ? undefined : formatOf(format)
  const reading = {
    ...{ clients, fields: { key, time, cost }, pattern: named?.pattern },
    ...{ duration, whole: plan.whole, mask },
  }
  const input = new LogInput({ sources, format: named?.format, reading })
  const replay = new Replay(plan, clients)
  for (const note of plan.notes) say(note, io.stderr)

  const spool = flags.suggest ? new Spool() : undefined
  const demand = plan.demands[0] as SharedWindow
  demand.spool = spool
  const progress = startProgress(io.stderr, totalOf(sources.map(({ bytes }) => bytes)))
  await play(input, replay, progress, signal)
  const suggestion = spool && suggest(demand, spool, clients.count)
  spool?.close()
  if (flags.suggest && suggestion === undefined) {
    say('nothing to suggest: no request met the first policy', io.stderr)
  }

  const interrupted = signal.aborted
  const shown = sources.map(({ name }) => name)
  const report = buildReport({ names: shown, input, replay, suggestion, interrupted }, mask)
  await write(printableReport(report), flags, io, check)
  if (interrupted) return EXIT.interrupted
  const exceeded = report.runs.some(({ refused, requests }) => refused > admissible * requests)
  return exceeded ? EXIT.refused : EXIT.ok
}

async function planOf(flags: ReplayFlags, clients: Clients, mask: Mask): Promise<ReplayPlan> {
  if (flags.config === undefined) return planFlags(flags)
  // It brings a compiler of TypeScript with it.
  const { planConfig } = await import('../replay/plan-config.ts')
  return planConfig(flags.config, flags, { clients, mask })
}

/** Plays the whole log, and shows how far it is. */
async function play(
  input: LogInput,
  replay: Replay,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const playDue = async () => {
    await replay.play()
    progress.update(input.bytes, input.lines)
  }
  try {
    await input.read((entry) => replay.take(entry), playDue, signal)
    await replay.finish()
  } finally {
    progress.stop()
  }
}

function namesOf(files: readonly string[], { stdin }: Io): readonly string[] {
  if (files.length > 0) return files
  if (stdin.isTTY) throw new UsageError('name a log, or send one to standard input')
  return ['-']
}

/** Undefined if one of them is unknown. */
function totalOf(sizes: readonly (number | undefined)[]): number | undefined {
  const known = sizes.filter((size) => size !== undefined)
  return known.length < sizes.length ? undefined : known.reduce((sum, size) => sum + size, 0)
}

/** @param check asked once more before anything is written into a file: a replay may take hours */
async function write(
  report: Report,
  { json, html }: ReplayFlags,
  { stdout }: Io,
  check: () => void,
): Promise<void> {
  // First what needs no file: should one not be writable, it is not lost.
  if (json === true) stdout.write(toJson(report))
  else
    stdout.write(
      `${toText(report, pico.createColors(stdout.isTTY === true && pico.isColorSupported))}\n`,
    )
  check()
  if (typeof json === 'string') writeFileSync(json, toJson(report))
  if (html !== undefined) {
    // Only where it is wanted: from the sources its script is bundled first.
    const { renderReport } = await import('../report/html/index.ts')
    writeFileSync(html, renderReport(report))
  }
}
