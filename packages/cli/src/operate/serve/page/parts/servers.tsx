import { number } from '@sluice/terminal/words'
import type { Health, MemoryHealth } from '../../../health.ts'

/** The health of the store: what each of its masters says. */
export function Servers({ health }: { health: readonly Health[] }) {
  return (
    <section aria-labelledby="servers">
      <h2 id="servers">The store</h2>
      {health.length === 0 ? (
        <p>It says nothing of itself.</p>
      ) : (
        <ul class="servers">
          {health.map((each, i) => (
            <li key={i}>
              <Server health={each} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Server({ health }: { health: Health }) {
  const { version, role, latencyMs, connectedClients, memory } = health
  return (
    <>
      <b>
        {version} {role}
      </b>
      <ul>
        <li>answers in {number(Math.round(latencyMs * 10) / 10)} ms</li>
        <li>{connectedClients} clients</li>
        {memory && <Memory memory={memory} />}
      </ul>
    </>
  )
}

function Memory({
  memory: { usedBytes, maxBytes, policy, evictedKeys },
}: {
  memory: MemoryHealth
}) {
  const evicts = policy?.startsWith('allkeys') === true
  return (
    <>
      <li>
        memory {megabytes(usedBytes)}
        {maxBytes ? ` of ${megabytes(maxBytes)}` : ', no maximum'}
      </li>
      <li class={evicts ? 'warning' : ''}>
        {policy}
        {evicts && ': it may evict quotas'}
      </li>
      <li class={evictedKeys ? 'warning' : ''}>{number(evictedKeys ?? 0)} keys evicted</li>
    </>
  )
}

function megabytes(bytes: number | undefined): string {
  return bytes === undefined ? '–' : `${number(Math.round(bytes / 2 ** 20))} MB`
}
