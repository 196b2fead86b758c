import { UsageError } from '@sluice/terminal/usage-error'

/** The body of a request of the page, unchecked. */
export type Body = Readonly<Record<string, unknown>>

/** What answers each request of the page, by its name. Throws UsageError and SluiceError about its body. */
export type Requests = Readonly<Record<string, (body: Body) => Promise<unknown>>>

/** A text of a body; '' if it has none. @throws UsageError */
export function text(given: unknown): string {
  if (given === undefined) return ''
  if (typeof given === 'string') return given
  throw new UsageError('expected text')
}
