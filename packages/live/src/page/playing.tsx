import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { HoldButton } from './parts/hold-button.tsx'
import { Lanes } from './parts/lanes.tsx'
import { Countdown } from './parts/news.tsx'
import { Summary } from './parts/summary.tsx'
import { playInTurn } from './traffic/play-in-turn.ts'
import type { Session } from './traffic/session.ts'

/** The limiters in little: they play by themselves while they are in sight, unless the reader wants no motion. */
export function Playing({ session }: { session: Session }) {
  const isWanted = useSignal(!matchMedia('(prefers-reduced-motion: reduce)').matches)
  const isInSight = useSignal(false)
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => {
      isInSight.value = entry?.isIntersecting === true
    })
    observer.observe(host.current as HTMLDivElement)
    return () => observer.disconnect()
  }, [])
  useSignalEffect(() => (isWanted.value && isInSight.value ? playInTurn(session) : undefined))
  const byHand = () => {
    isWanted.value = false
    session.send()
  }
  return (
    <div ref={host}>
      <section class="controls short" aria-label="Send requests">
        <HoldButton act={byHand}>Send a request</HoldButton>
        <button
          type="button"
          onClick={() => {
            isWanted.value = !isWanted.value
          }}
        >
          {isWanted.value ? 'Pause' : 'Play'}
        </button>
        {isWanted.value ? <Now session={session} /> : <Summary session={session} />}
      </section>
      <Lanes session={session} isShort={true} />
    </div>
  )
}

/** Which requests come. It is not announced: it changes by itself. */
function Now({ session: { pattern, planned, count } }: { session: Session }) {
  const [next] = planned.value
  if (next !== undefined && count.value === 0) return <Countdown to={next} />
  const { name, hint } = pattern.value ?? {}
  return <p>{name !== undefined && `${name}: ${hint}.`}</p>
}
