import { count, number } from '@sluice/terminal/words'
import type { PoliciesSnapshot, PolicyCard, ShownChange } from '../../policy-watch.ts'
import type { Operations, PolicyAction } from '../operations.ts'
import { Menu } from './menu.tsx'

interface Props {
  readonly operations: Operations
  readonly policies: PoliciesSnapshot
}

/** The live policies and their last changes; nothing if there are none. */
export function Policies({ operations, policies }: Props) {
  const { cards, count: all, history } = policies
  if (all === 0) return null
  return (
    <section aria-labelledby="policies">
      <h2 id="policies">Live policies</h2>
      <p class="note">
        Clients are counted from their quotas. The store does not count refused requests: the
        metrics of your servers do.
      </p>
      <div class="policies">
        {cards.map((card) => (
          <Card key={card.id} operations={operations} policies={policies} card={card} />
        ))}
      </div>
      {all > cards.length && <p>and {number(all - cards.length)} more: sluice policy list</p>}
      {history.length > 0 && (
        <details>
          <summary>The last changes</summary>
          <ul class="changes">
            {history.map((change) => (
              <Change
                key={change.number}
                operations={operations}
                policies={policies}
                change={change}
              />
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}

function Card({ operations, policies, card }: Props & { readonly card: PolicyCard }) {
  const { name, inForce, details, problem } = card
  return (
    <article class="found" aria-label={`Policy ${name}`}>
      <header>
        <h3>
          <code>{name}</code>
        </h3>
        <Menu
          label={`Actions for the policy ${name}`}
          of={name}
          choices={actionsFor(operations, policies, card)}
        />
      </header>
      <p>
        <b>{inForce}</b>
      </p>
      <ul>
        {details.map((text) => (
          <li key={text} class={problem !== undefined && text.endsWith(problem) ? 'warning' : ''}>
            {text}
          </li>
        ))}
        <li>{clientsText(card)}</li>
      </ul>
    </article>
  )
}

function actionsFor(
  operations: Operations,
  { seen, by }: PoliciesSnapshot,
  { id, name, limit, isSet }: PolicyCard,
): readonly (readonly [string, () => void])[] {
  const common = { name: 'policy', policy: id, by: operations.by.value ?? by, seen } as const
  const actions: readonly (readonly [string, PolicyAction])[] = [
    [
      'Limit',
      {
        ...common,
        action: 'limit',
        title: `set the limit of ${name}`,
        value: `${limit ?? ''}`,
        duration: '1h',
      },
    ],
    ['Dry run', { ...common, action: 'dry-run', title: `dry run of ${name}`, duration: '' }],
    [
      'Enforce a share',
      {
        ...common,
        action: 'enforce',
        title: `enforce ${name} for a share`,
        value: '10',
        duration: '',
      },
    ],
    ...(isSet
      ? [
          [
            'Back to the code',
            { ...common, action: 'unset', title: `back to the code: ${name}` },
          ] as const,
        ]
      : []),
  ]
  return actions.map(([label, action]) => [label, () => operations.ask(action)])
}

/** `3 of 120 clients have nothing left: they are refused` */
function clientsText({ clients }: PolicyCard): string {
  if (clients === undefined) return 'its clients have not been counted'
  const { counted, refused, wouldRefuse, unknown, own } = clients
  const left = refused + wouldRefuse
  const who =
    left === 0
      ? `${count(counted, 'client')} counted, none with nothing left`
      : `${number(left)} of ${count(counted, 'client')} with nothing left`
  const texts = [
    refused > 0 && `${number(refused)} refused`,
    wouldRefuse > 0 && `${number(wouldRefuse)} would be refused`,
    unknown > 0 && `${number(unknown)} that can’t be told`,
    own > 0 && `${number(own)} with a limit of their own`,
  ].filter((text) => text !== false)
  return [who, ...texts].join(', ')
}

function Change({ operations, policies, change }: Props & { readonly change: ShownChange }) {
  const { number: which, head, lines, undone } = change
  const title = `undo change ${which}`
  const { seen, by } = policies
  return (
    <li class="change">
      <div>
        {head}
        <ul>
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </div>
      <button
        type="button"
        aria-label={`Undo change ${which}`}
        onClick={() =>
          operations.ask({
            name: 'policy',
            action: 'rollback',
            title,
            number: which,
            undone,
            by: operations.by.value ?? by,
            seen,
          })
        }
      >
        Undo
      </button>
    </li>
  )
}
