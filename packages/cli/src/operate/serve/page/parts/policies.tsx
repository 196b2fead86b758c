import { count, number } from '@sluice/terminal/words'
import type { PolicyCard, ShownChange } from '../../policy-watch.ts'
import type { Snapshot } from '../../store-watch.ts'
import { type Field, howLong, type Operations, type Question } from '../operations.ts'
import { Menu } from './menu.tsx'

/** The live policies and their last changes; nothing if there are none. */
export function Policies({ operations }: { operations: Operations }) {
  const { cards, count: all, history } = policiesOf(operations)
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
          <Card key={card.id} operations={operations} card={card} />
        ))}
      </div>
      {all > cards.length && <p>and {number(all - cards.length)} more: sluice policy list</p>}
      {history.length > 0 && (
        <details>
          <summary>The last changes</summary>
          <ul class="changes">
            {history.map((change) => (
              <Change key={change.number} operations={operations} change={change} />
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}

function Card({ operations, card }: { operations: Operations; card: PolicyCard }) {
  const { name, inForce, details, problem } = card
  return (
    <article class="found" aria-label={`Policy ${name}`}>
      <header>
        <h3>
          <code>{name}</code>
        </h3>
        <Menu
          operations={operations}
          label={`Actions for the policy ${name}`}
          of={name}
          questions={questionsOf(operations, card)}
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

function questionsOf(
  operations: Operations,
  { id, name, limit, isSet }: PolicyCard,
): readonly (readonly [string, Question])[] {
  const ask = (action: string, title: string, effect: string, ...fields: Field[]) =>
    policyQuestion(operations, { title, effect, fields, body: { action, policy: id } })
  const always = howLong('', UNTIL_CHANGED)
  const units = { name: 'value', label: 'Units', value: `${limit ?? ''}`, pattern: '[0-9]+' }
  const share = { name: 'value', label: 'Percent of the clients', value: '10', pattern: PERCENT }
  const limited = 'What clients have used stays counted.'
  const tried = 'It counts and reports as before, and refuses nobody.'
  const shared =
    'It refuses this share of the clients, always the same ones. For the others it is a dry run.'
  const unset = 'Nothing is set any longer: the code decides.'
  return [
    [
      'Limit',
      ask('limit', `set the limit of ${name}`, limited, units, howLong('1h', UNTIL_CHANGED)),
    ],
    ['Dry run', ask('dry-run', `dry run of ${name}`, tried, always)],
    ['Enforce a share', ask('enforce', `enforce ${name} for a share`, shared, share, always)],
    ...(isSet
      ? [['Back to the code', ask('unset', `back to the code: ${name}`, unset)] as const]
      : []),
  ]
}

const UNTIL_CHANGED = 'until it is changed'
const PERCENT = '(100|[0-9]{1,2})([.][0-9]+)?'

const policiesOf = ({ snapshot }: Operations) => (snapshot.value as Snapshot).policies

/** A question about live policies, with its author. */
function policyQuestion(
  operations: Operations,
  { effect, fields = [], body, ...rest }: Omit<Question, 'yes' | 'path'>,
): Question {
  const { seen, by } = policiesOf(operations)
  const author = { name: 'by', label: 'Changed by', value: operations.by.value ?? by }
  return {
    ...rest,
    effect: `${effect} Every process has it within two seconds.`,
    fields: [...fields, author],
    yes: 'change it',
    path: 'policy',
    body: { ...body, seen },
  }
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

function Change({ operations, change }: { operations: Operations; change: ShownChange }) {
  const { number: which, head, lines, undone } = change
  const question = policyQuestion(operations, {
    title: `undo change ${which}`,
    effect: 'The settings from before it hold again. Later changes are undone too.',
    lines: undone,
    body: { action: 'rollback', number: which },
  })
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
        onClick={() => {
          operations.asked.value = question
        }}
      >
        Undo
      </button>
    </li>
  )
}
