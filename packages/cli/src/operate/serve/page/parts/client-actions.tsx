import { useId, useRef } from 'preact/hooks'
import type { EntryRecord } from '../../../entry-record.ts'
import type { Action, Operations } from '../operations.ts'

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
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
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
    <>
      <button
        ref={button}
        type="button"
        class="more"
        popovertarget={id}
        aria-label={`Actions for ${key}`}
      >
        ⋯
      </button>
      <div
        ref={menu}
        id={id}
        popover="auto"
        class="menu"
        onBeforeToggle={({ newState }) => {
          if (newState === 'open')
            place(menu.current as HTMLElement, button.current as HTMLElement, actions.length)
        }}
      >
        {actions.map(([name, action]) => (
          <button
            key={name}
            type="button"
            aria-label={`${name} ${key}`}
            onClick={() => {
              // The focus goes back to the button, and returns there after the question.
              menu.current?.hidePopover()
              operations.ask(action)
            }}
          >
            {name}
          </button>
        ))}
      </div>
    </>
  )
}

/** Sets the client's own limit, or ends the one that it has. */
function limitOf({ key, policy, limit, override }: EntryRecord): readonly [string, Action] {
  const common = { name: 'limit', key, policy } as const
  return override === undefined
    ? [`Limit ${policy}`, { ...common, units: `${limit ?? ''}`, duration: '30d' }]
    : [`End the limit of ${policy}`, { ...common, units: undefined, duration: undefined }]
}

/** Height of an action in the menu, px. */
const ACTION = 40

/** Puts the menu below its button, or above it where there is no room. */
function place({ style }: HTMLElement, button: HTMLElement, actions: number): void {
  const { top, bottom, right } = button.getBoundingClientRect()
  const height = actions * ACTION + 16
  const isBelow = bottom + height < innerHeight || top < height
  style.top = `${scrollY + (isBelow ? bottom : top - height)}px`
  style.right = `${document.documentElement.clientWidth - right}px`
}
