import { effect } from '@preact/signals-core'
import { bursts, edge } from '../patterns/index.ts'
import type { Session } from './session.ts'

const ROUND = [bursts, edge]
/** How long the outcome stands before the next pattern, ms. */
const REST_MS = 6000

/**
 * Plays one pattern after the other; it waits while the tab is hidden.
 *
 * @returns a function that stops it
 */
export function playInTurn(session: Session): () => void {
  let turn = 0
  const end = effect(() => {
    if (session.pattern.value !== undefined) return
    const timer = setInterval(
      () => {
        if (document.hidden) return
        clearInterval(timer)
        void session.play(ROUND[turn % ROUND.length] as typeof edge)
        turn += 1
      },
      turn === 0 ? 0 : REST_MS,
    )
    return () => clearInterval(timer)
  })
  return () => {
    end()
    session.stop()
  }
}
