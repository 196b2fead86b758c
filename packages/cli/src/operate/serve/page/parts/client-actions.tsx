import type { EntryRecord } from '../../../entry-record.ts'
import { howLong, type Operations, type Question } from '../operations.ts'
import { Menu } from './menu.tsx'

interface Props {
  readonly operations: Operations
  /** The key of the client. */
  readonly client: string
  /** Whether it is blocked or banned. */
  readonly isShut: boolean
  /** How it stands; of a network nothing. */
  readonly entries?: readonly EntryRecord[]
}

/** A button that opens the menu of what can be done to a client. */
export function ClientActions({ operations, client: key, isShut, entries = [] }: Props) {
  const ask = (name: string, effect: string): Question => {
    return { title: `${name} ${key}`, effect, yes: name, path: name, body: { key } }
  }
  const block = ask('block', 'Every request of it is refused in every policy.')
  const unblock = ask('unblock', 'Its blocks and bans end.')
  // A ban has the name of a policy; those of several routes may have the same.
  const limited = entries
    .filter(({ algorithm }) => algorithm !== 'ban')
    .filter(({ policy }, i, all) => all.findIndex((each) => each.policy === policy) === i)
  const questions: readonly (readonly [string, Question])[] = [
    ['Reset', ask('reset', 'Its quotas are unused again, and its blocks and bans end.')],
    ['Block', { ...block, fields: [howLong('1h')] }],
    ...(isShut ? [['Unblock', unblock] as const] : []),
    ...limited.map(limitOf),
  ]
  return (
    <Menu operations={operations} label={`Actions for ${key}`} of={key} questions={questions} />
  )
}

/** Sets the client's own limit, or ends the one that it has. */
function limitOf({ key, policy, limit, override }: EntryRecord): readonly [string, Question] {
  const body = { key, policy }
  const effect = 'What it has used stays counted.'
  if (override !== undefined)
    return [
      `End the limit of ${policy}`,
      { title: `end the limit of ${key} in ${policy}`, effect, yes: 'end', path: 'limit', body },
    ]
  const units = { name: 'units', label: 'Units', value: `${limit ?? ''}`, pattern: '[0-9]+' }
  const fields = [units, howLong('30d', 'until it is ended')]
  return [
    `Limit ${policy}`,
    { title: `limit ${key} in ${policy}`, effect, fields, yes: 'limit', path: 'limit', body },
  ]
}
