import { REPOSITORY, SITE } from '@sluice/ui/addresses'
import { CONCURRENT, LIMIT } from '../limits.ts'
import { Limiters } from './limiters.tsx'
import { Overload } from './overload.tsx'
import { WINDOW } from './parts/format.ts'
import type { Session } from './traffic/session.ts'

export function App({ session }: { session: Session }) {
  return (
    <>
      <header class="title">
        <h1>One request, six rate limiters</h1>
        <p>
          Five allow {LIMIT} requests per {WINDOW}, and count them differently; the sixth allows{' '}
          {CONCURRENT} at once. Each request that you send goes to all six.
        </p>
      </header>
      <main>
        <Limiters session={session} />
        <Overload />
      </main>
      <footer>
        <p>
          Everything here comes from the status and header fields of real responses from{' '}
          <code>@sluice/express</code>. Between responses, the drawings follow the rule of the
          algorithm.
        </p>
      </footer>
      {/* Above the rest, but reached last: the first stop of the keyboard sends a request. */}
      <nav class="site" aria-label="Sluice">
        <a class="home" href={SITE}>
          <img src="/icon.svg" alt="" width={24} height={24} />
          Sluice
        </a>
        <a href={`${SITE}algorithms`}>The algorithms</a>
        <a href={REPOSITORY}>Source</a>
      </nav>
    </>
  )
}
