import { askForTime, keepDrawing } from './traffic/clock.ts'
import type { Send } from './traffic/send.ts'
import { Session } from './traffic/session.ts'

export interface Started {
  readonly session: Session
  stop(): void
}

/** Reads the clock of the limiters and keeps the drawings going. */
export async function start(send: Send): Promise<Started> {
  // Without an answer, the page shows what is wrong at the first request.
  const setClock = () => askForTime(send).catch(() => {})
  await setClock()
  const stopDrawing = keepDrawing()
  const session = new Session(send)
  const whenHidden = () => {
    // Out of sight timers are too slow for a pattern, and a computer that sleeps stops the clock.
    if (document.hidden) session.stop()
    else void setClock()
  }
  document.addEventListener('visibilitychange', whenHidden)
  return {
    session,
    stop() {
      document.removeEventListener('visibilitychange', whenHidden)
      stopDrawing()
      session.startAfresh()
    },
  }
}
