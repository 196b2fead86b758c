import type { NodePath } from '@babel/traverse'
import type { OptionsObject } from '../options-object.ts'

/** The statuses that the option `statusCode` takes. */
export const STATUSES = ['402', '403', '404', '429', '503']

/** The body of a refusal of express-rate-limit and hono-rate-limiter. */
export const DEFAULT_MESSAGE = "'Too many requests, please try again later.'"

/** Functions for `respond`, as source code. */
interface Responses {
  /** In place of a handler; undefined: it was rewritten where it is. */
  ofHandler(handler: NodePath): string | undefined
  ofMessage(message: NodePath, status: string): string
  /** @param status one that Sluice does not take */
  ofStatus(status: string): string
}

/** `handler`, `message` and `statusCode` become `respond`. */
export function renameResponse(
  options: OptionsObject,
  { ofHandler, ofMessage, ofStatus }: Responses,
): void {
  const handler = options.value('handler')
  const message = options.value('message')
  const code = options.text('statusCode') ?? '429'
  const isOther = !STATUSES.includes(code)
  if (handler !== undefined) {
    const text = ofHandler(handler)
    if (text === undefined) options.renameTo('handler', 'respond')
    else options.replace('handler', ['respond', text])
    options.remove('message')
  } else if (message !== undefined) {
    options.replace('message', ['respond', ofMessage(message, code)])
  } else if (isOther) {
    options.replace('statusCode', ['respond', ofStatus(code)])
    return
  }
  if (isOther) options.remove('statusCode')
  else options.rename('statusCode')
}
