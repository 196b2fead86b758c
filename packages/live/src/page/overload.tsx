import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { CAPACITY, CLASSES, LOAD_SECONDS, LOADS, type OverloadState } from '../limits.ts'

const EVERY_MS = 500
const SPAN_MS = 30_000
const HEIGHT = 60
/** Requests a second of one class at the highest load, for the height of its columns. */
const MOST = (LOADS.at(-1) as number) * CAPACITY

/** A server that anybody can overload, and what `shedLoad` makes of it. */
export function Overload() {
  const state = useSignal<OverloadState | undefined>(undefined)
  useEffect(() => {
    const ask = () => void askState().then((answer) => (state.value = answer ?? state.value))
    ask()
    const timer = setInterval(() => document.hidden || ask(), EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  const load = state.value?.load ?? 0
  return (
    <section class="overload" aria-labelledby="overload">
      <h2 id="overload">An overloaded server</h2>
      <p>
        This server can serve {CAPACITY} requests a second: it waits for a slow database. Choose a
        load for {LOAD_SECONDS} s. <code>shedLoad</code> measures how many requests the server can
        serve, and refuses the rest at once, less important ones first. Critical requests are half
        of the capacity.
      </p>
      <div class="loads">
        {LOADS.map((each) => (
          <button
            type="button"
            key={each}
            aria-pressed={load === each}
            disabled={load !== 0}
            onClick={() => void fetch(`/overload/load/${each}`, { method: 'POST' })}
          >
            {each} × <small>{each * CAPACITY} requests a second</small>
          </button>
        ))}
      </div>
      {Object.keys(CLASSES).map((name) => (
        <ClassStrip key={name} name={name} state={state.value} />
      ))}
      <p role="status">{wordsOf(state.value)}</p>
    </section>
  )
}

async function askState(): Promise<OverloadState | undefined> {
  try {
    return await (await fetch('/overload/state')).json()
  } catch {
    // The server is away; the other lanes say so.
    return undefined
  }
}

/** A column for each second: admitted requests above the line, refused ones below it. */
function ClassStrip({ name, state }: { name: string; state: OverloadState | undefined }) {
  const heightOf = (requests: number) => Math.sqrt(requests / MOST) * (HEIGHT / 2)
  const columns = (state?.seconds ?? []).map(({ at, classes }) => {
    const { admitted = 0, shed = 0 } = classes[name] ?? {}
    const x = ((at - (state as OverloadState).now + SPAN_MS) / SPAN_MS) * 180
    return { x, up: heightOf(admitted), down: heightOf(shed) }
  })
  return (
    <figure>
      <figcaption>
        {name}: {countsOf(name, state)}
      </figcaption>
      <svg viewBox={`0 0 180 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {columns.map(({ x, up, down }) => (
          <g key={x}>
            <rect class="admitted" x={x - 5} y={HEIGHT / 2 - up} width={5} height={up} />
            <rect class="refused" x={x - 5} y={HEIGHT / 2} width={5} height={down} />
          </g>
        ))}
        <line x2={180} y1={HEIGHT / 2} y2={HEIGHT / 2} />
      </svg>
    </figure>
  )
}

function countsOf(name: string, state: OverloadState | undefined): string {
  let admitted = 0
  let shed = 0
  for (const { classes } of state?.seconds ?? []) {
    admitted += classes[name]?.admitted ?? 0
    shed += classes[name]?.shed ?? 0
  }
  return `${admitted} served, ${shed} refused in 30 s`
}

function wordsOf(state: OverloadState | undefined): string {
  if (state === undefined || state.seconds.length === 0) return 'No load. Choose one.'
  const { load, signal, limit, active, waiting } = state
  const now = load === 0 ? 'The load is over.' : `${load} × the capacity.`
  const places = `Running: ${active} of at most ${limit}. Waiting: ${waiting}.`
  return `${now} ${places}${signal === undefined ? ' None are refused.' : ` Refused because of: ${signal}.`}`
}
