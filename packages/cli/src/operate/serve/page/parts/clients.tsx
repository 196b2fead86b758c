import { number, percent } from '@sluice/terminal/words'
import { keyText, policyText, rankedText } from '../../../entry-text.ts'
import type { RankedRecord } from '../../../ranking.ts'
import type { Operations } from '../operations.ts'
import { ClientActions } from './client-actions.tsx'

interface Props {
  readonly operations: Operations
  readonly top: readonly RankedRecord[]
}

/** The clients that are nearest to a limit, or over it. */
export function Clients({ operations, top }: Props) {
  return (
    <div class="part">
      <h2 id="clients">Nearest to a limit</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must get there */}
      <section class="scroll" tabIndex={0} aria-labelledby="clients">
        <table>
          <thead>
            <tr>
              {['Client', 'Policy', 'Used', 'Per second', 'Standing'].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
              <th scope="col">
                <span class="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {top.map((record) => (
              <ClientRow
                key={`${record.prefix} ${record.key} ${record.keyspace}`}
                operations={operations}
                record={record}
              />
            ))}
          </tbody>
        </table>
        {top.length === 0 && <p>No client is counted at present.</p>}
      </section>
    </div>
  )
}

function ClientRow({ operations, record }: { operations: Operations; record: RankedRecord }) {
  const { key, isDigest, share, rate, standing, shut } = record
  const isShut =
    standing === 'blocked' || standing === 'banned' || (shut !== undefined && shut.by !== 'network')
  return (
    <tr class={shut === undefined ? standing : 'blocked'}>
      <th scope="row">
        <code>{keyText(record)}</code>
      </th>
      <td class="policy">{policyText(record)}</td>
      <td class="number">{share === undefined ? '–' : percent(share)}</td>
      <td class="number rate">{rate === undefined ? '–' : number(Math.round(rate * 10) / 10)}</td>
      <td class="standing">{rankedText(record)}</td>
      <td class="act">
        {isDigest ? (
          <small>find it by its key</small>
        ) : (
          <ClientActions operations={operations} client={key} isShut={isShut} entries={[record]} />
        )}
      </td>
    </tr>
  )
}
