import type { EntryRecord } from '../../../entry-record.ts'
import type { Action, Operations } from '../operations.ts'
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
  // A ban has the name of a policy; those of several routes may have the same.
  const limited = entries
    .filter(({ algorithm }) => algorithm !== 'ban')
    .filter(({ policy }, i, all) => all.findIndex((each) => each.policy === policy) === i)
  const actions: readonly (readonly [string, Action])[] = [
    ['Reset', { name: 'reset', key }],
    ['Block', { name: 'block', key, duration: '1h' }],
    ...(isShut ? [['Unblock', { name: 'unblock', key }] as const] : []),
    ...limited.map(limitOf),
  ]
  return (
    <Menu
      label={`Actions for ${key}`}
      of={key}
      choices={actions.map(([name, action]) => [name, () => operations.ask(action)] as const)}
    />
  )
}

/** Sets the client's own limit, or ends the one that it has. */
function limitOf({ key, policy, limit, override }: EntryRecord): readonly [string, Action] {
  const common = { name: 'limit', key, policy } as const
  return override === undefined
    ? [`Limit ${policy}`, { ...common, units: `${limit ?? ''}`, duration: '30d' }]
    : [`End the limit of ${policy}`, { ...common, units: undefined, duration: undefined }]
}
