import { useSignal, useSignalEffect } from '@preact/signals'
import { algorithms } from '../../limits.ts'
import type { Session } from '../traffic/session.ts'

/** The summary is announced when no answer has come for this long, ms. */
const PAUSE_MS = 1500

/** Says in a sentence what came of the requests, when they have come to rest: also to screen readers. */
export function Summary({ session }: { session: Session }) {
  const announced = useSignal('')
  useSignalEffect(() => {
    const sentence = summaryOf(session)
    const timer = setTimeout(() => {
      announced.value = sentence
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  })
  return (
    <p class="summary" role="status">
      {announced}
    </p>
  )
}

function summaryOf({ count, lanes, lost }: Session): string {
  if (lost.value) return 'The server does not answer. Is npm start still running?'
  if (count.value === 0) return ''
  const each = algorithms.map((algorithm) => `${algorithm} ${lanes[algorithm].admitted.value}`)
  return `${count.value === 1 ? '1 request' : `${count.value} requests`}. Admitted by ${each.join(', ')}.`
}
