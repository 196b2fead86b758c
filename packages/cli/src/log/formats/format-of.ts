import { UsageError } from '@sluice/terminal/usage-error'
import { isPattern, LinePattern } from './line-pattern.ts'
import { FORMATS, type FormatName } from './reading.ts'

/** Reads `--format`: the name of a format, or a pattern. @throws UsageError */
export function formatOf(text: string): { format: FormatName; pattern?: LinePattern } {
  const format = FORMATS.find((name) => name === text)
  if (format !== undefined) return { format }
  if (isPattern(text)) return { format: 'pattern', pattern: new LinePattern(text) }
  throw new UsageError(
    `--format: Allowed choices are ${FORMATS.join(', ')}, or a pattern such as '$remote_addr [$time_local] "$request"' or '%h %t "%r"', received '${text}'`,
  )
}
