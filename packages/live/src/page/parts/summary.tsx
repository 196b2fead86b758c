import { useSignal, useSignalEffect } from '@preact/signals'
import { algorithms } from '../../limits.ts'
import type { Session } from '../traffic/session.ts'

/** So long nothing may have come before it is told what came of it, ms. */
const PAUSE_MS = 1500

/** Says in a sentence what came of the requests, when they have come to rest: also to screen readers. */
export function Summary({ session }: { session: Session }) {
  const told = useSignal('')
  useSignalEffect(() => {
    const sentence = summaryOf(session)
    const timer = setTimeout(() => {
      told.value = sentence
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  })
  return (
    <p class="summary" role="status">
      {told}
    </p>
  )
}

function summaryOf({ count, lanes, lost }: Session): string {
  if (lost.value) return 'The server does not answer. Is npm start still running?'
  if (count.value === 0) return ''
  const each = algorithms.map((algorithm) => `${algorithm} ${lanes[algorithm].admitted.value}`)
  return `${count.value === 1 ? '1 request' : `${count.value} requests`}. Admitted by ${each.join(', ')}.`
}
