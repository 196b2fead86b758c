import { cidrText } from '@sluice/core/operator'
import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import type { Io } from '@sluice/terminal/io'
import { printable, printableReport } from '@sluice/terminal/printable'
import { clientKey } from './client-key.ts'
import type { Connection } from './connection.ts'
import { type EntryRecord, toRecord } from './entry-record.ts'
import { blockText, policyText, standingText } from './entry-text.ts'
import type { KeyFlags } from './flags.ts'
import { networkOf, networksAround } from './networks.ts'
import { reportedReading, sayUnreadable } from './reading.ts'

/** `sluice inspect`: every policy of a client as it stands, and the blocked networks that it is in. */
export async function inspectCommand(
  text: string,
  flags: KeyFlags,
  { store }: Connection,
  { stdout, stderr }: Io,
): Promise<ExitCode> {
  const asked = networkOf(text, flags.ipv6Prefix)
  const key = asked === undefined ? clientKey(text, flags.ipv6Prefix) : cidrText(asked)
  const { prefix, policy } = flags
  const records = []
  const reading = reportedReading(stderr)
  const { onProgress } = reading
  for await (const entry of store.inspect({ prefix, policy, key, onProgress }))
    records.push(toRecord(entry))
  records.sort((one, other) => (one.keyspace + one.prefix < other.keyspace + other.prefix ? -1 : 1))
  const networks = await networksAround(store, prefix, key)
  if (flags.json)
    stdout.write(
      `${JSON.stringify(printableReport({ key, entries: records, networks }), null, 2)}\n`,
    )
  else {
    const what = asked === undefined ? inWords(key, prefix, records) : key
    const none = `  is in no blocked network under the prefix ${prefix}`
    const lines = networks.map((each) => `  in ${each.network}, ${blockText(each, Date.now())}`)
    const around = asked !== undefined && networks.length === 0 ? [none] : lines
    stdout.write(`${[what, ...around].join('\n')}\n`)
  }
  sayUnreadable(reading, stderr)
  return EXIT.ok
}

function inWords(key: string, prefix: string, records: readonly EntryRecord[]): string {
  const name = printable(key)
  if (records.length === 0) {
    return `${name}: nothing is counted under the prefix ${prefix}, so every quota is unused`
  }
  return [name, ...listOf(records, key)].join('\n')
}

/** A line for each entry. @param known the key that needs no mention */
function listOf(records: readonly EntryRecord[], known?: string): string[] {
  const names = records.map((record) => {
    const other = known === undefined || record.key === known ? '' : `${record.key} `
    return printable(`${record.prefix} ${other}${policyText(record)}`)
  })
  const width = Math.max(...names.map(({ length }) => length))
  return records.map(
    (record, i) => `  ${(names[i] as string).padEnd(width)}  ${standingText(record)}`,
  )
}
