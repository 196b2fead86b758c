import { columns } from '@sluice/terminal/columns'
import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import type { Io } from '@sluice/terminal/io'
import { printable, printableReport } from '@sluice/terminal/printable'
import { type ClientStand, standOf } from './client-stand.ts'
import type { Connection } from './connection.ts'
import type { EntryRecord } from './entry-record.ts'
import { blockText, policyText, standingText } from './entry-text.ts'
import type { KeyFlags } from './flags.ts'
import { reportedReading, sayUnreadable } from './reading.ts'

/** `sluice inspect`: every policy of a client as it stands, and the blocked networks that it is in. */
export async function inspectCommand(
  text: string,
  { prefix, policy, ipv6Prefix, json }: KeyFlags,
  { store }: Connection,
  { stdout, stderr }: Io,
): Promise<ExitCode> {
  const reading = reportedReading(stderr)
  const stand = await standOf(store, text, { prefix, policy }, ipv6Prefix, reading)
  const { key, entries, networks, isKnown } = stand
  const report = () => JSON.stringify(printableReport({ key, entries, networks }), null, 2)
  stdout.write(`${json ? report() : inWords(stand)}\n`)
  sayUnreadable(reading, stderr)
  return isKnown ? EXIT.ok : EXIT.failed
}

function inWords({ key, entries, networks, nothing }: ClientStand): string {
  const name = printable(key)
  if (nothing !== undefined) return `${name}: ${nothing}`
  const around = networks.map((each) => `  in ${each.network}, ${blockText(each)}`)
  return [name, ...listOf(entries, key), ...around].join('\n')
}

/** A line for each entry. @param known the key that needs no mention */
function listOf(records: readonly EntryRecord[], known: string): string[] {
  const rows = records.map((record) => {
    const other = record.key === known ? '' : `${record.key} `
    return [printable(`${record.prefix} ${other}${policyText(record)}`), standingText(record)]
  })
  return columns(rows).map((line) => `  ${line}`)
}
