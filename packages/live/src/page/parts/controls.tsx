import { bursts, edge, steady } from '../patterns/index.ts'
import type { Session } from '../traffic/session.ts'
import { HoldButton } from './hold-button.tsx'

export function Controls({ session }: { session: Session }) {
  const playing = session.pattern.value
  const byHand = () => {
    session.stop()
    session.send()
  }
  return (
    <section class="controls" aria-label="Send requests">
      <HoldButton act={byHand}>
        Send a request <small>hold for 8 a second</small>
      </HoldButton>
      <button type="button" class="afresh" onClick={() => session.startAfresh()}>
        Start again <small>as a new client</small>
      </button>
      {[edge, bursts, steady].map((pattern) => (
        <button
          type="button"
          key={pattern.name}
          aria-pressed={playing === pattern}
          onClick={() => (playing === pattern ? session.stop() : void session.play(pattern))}
        >
          {pattern.name} <small>{pattern.hint}</small>
        </button>
      ))}
    </section>
  )
}
