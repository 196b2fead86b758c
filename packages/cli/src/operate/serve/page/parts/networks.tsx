import { number } from '@sluice/terminal/words'
import { blockText } from '../../../entry-text.ts'
import type { Ranking } from '../../../ranking.ts'
import type { Operations } from '../operations.ts'
import { ClientActions } from './client-actions.tsx'

interface Props {
  readonly operations: Operations
  readonly ranking: Ranking
}

/** The networks that are blocked; nothing if none is. */
export function Networks({ operations, ranking }: Props) {
  const { networks, networkCount } = ranking
  if (networkCount === 0) return null
  return (
    <article class="found" aria-label="Blocked networks">
      <h2>Blocked networks</h2>
      <ul>
        {networks.map((each) => (
          <li key={each.network}>
            <code>{each.network}</code> {blockText(each)}{' '}
            <ClientActions operations={operations} client={each.network} isShut />
          </li>
        ))}
      </ul>
      {networkCount > networks.length && <p>and {number(networkCount - networks.length)} more</p>}
    </article>
  )
}
