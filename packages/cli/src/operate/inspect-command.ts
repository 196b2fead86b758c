import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import type { Io } from '@sluice/terminal/io'
import { printable, printableReport } from '@sluice/terminal/printable'
import { clientKey } from './client-key.ts'
import type { Connection } from './connection.ts'
import { type EntryRecord, toRecord } from './entry-record.ts'
import { policyText, standingText } from './entry-text.ts'
import type { KeyFlags } from './flags.ts'
import { reportedReading, sayUnreadable } from './reading.ts'

/** `sluice inspect`: every policy of a client as it stands. */
export async function inspectCommand(
  text: string,
  flags: KeyFlags,
  { store }: Connection,
  { stdout, stderr }: Io,
): Promise<ExitCode> {
  const key = clientKey(text, flags.ipv6Prefix)
  const { prefix, policy } = flags
  const records = []
  const reading = reportedReading(stderr)
  const { onProgress } = reading
  for await (const entry of store.inspect({ prefix, policy, key, onProgress }))
    records.push(toRecord(entry))
  records.sort((one, other) => (one.keyspace + one.prefix < other.keyspace + other.prefix ? -1 : 1))
  if (flags.json)
    stdout.write(`${JSON.stringify(printableReport({ key, entries: records }), null, 2)}\n`)
  else stdout.write(`${inWords(key, prefix, records)}\n`)
  sayUnreadable(reading, stderr)
  return EXIT.ok
}

function inWords(key: string, prefix: string, records: readonly EntryRecord[]): string {
  const name = printable(key)
  if (records.length === 0) {
    return `${name}: nothing is counted under the prefix ${prefix}, so every quota is whole`
  }
  return [name, ...listOf(records)].join('\n')
}

/** A line for each entry. */
export function listOf(records: readonly EntryRecord[]): string[] {
  const names = records.map((record) => printable(`${record.prefix} ${policyText(record)}`))
  const width = Math.max(...names.map(({ length }) => length))
  return records.map(
    (record, i) => `  ${(names[i] as string).padEnd(width)}  ${standingText(record)}`,
  )
}
