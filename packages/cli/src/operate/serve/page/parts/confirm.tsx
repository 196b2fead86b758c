import { useSignal, useSignalEffect } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { Action, Operations } from '../operations.ts'

const DURATIONS = [
  ['15m', '15 minutes'],
  ['1h', '1 hour'],
  ['1d', '1 day'],
  ['7d', '7 days'],
] as const

const EFFECTS = {
  reset: 'Its quotas become whole, and its blocks and bans end.',
  unblock: 'Its blocks and bans end.',
  block: 'Every request of it is refused in every policy, for',
} as const

/** Asks before anything is changed. */
export function Confirm({ operations }: { operations: Operations }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useSignalEffect(() => {
    if (operations.asked.value === undefined) dialog.current?.close()
    else dialog.current?.showModal()
  })
  const action = operations.asked.value
  return (
    <dialog
      ref={dialog}
      aria-labelledby="question"
      onClose={() => {
        operations.asked.value = undefined
      }}
    >
      {action !== undefined && <Question operations={operations} action={action} />}
    </dialog>
  )
}

function Question({ operations, action }: { operations: Operations; action: Action }) {
  const { name, key } = action
  const duration = useSignal('1h')
  const confirmed: Action =
    action.name === 'block' ? { ...action, duration: duration.value } : action
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void operations.confirm(confirmed)
      }}
    >
      <h2 id="question">
        {name} <code>{key}</code>?
      </h2>
      <p>
        {EFFECTS[name]}
        {name === 'block' && (
          <>
            {' '}
            <select
              aria-label="How long"
              onChange={({ currentTarget }) => {
                duration.value = currentTarget.value
              }}
            >
              {DURATIONS.map(([value, text]) => (
                <option key={value} value={value} selected={value === '1h'}>
                  {text}
                </option>
              ))}
            </select>
          </>
        )}
      </p>
      <p class="actions">
        <button type="submit" class="sure">
          {name}
        </button>
        <button
          type="button"
          onClick={() => {
            operations.asked.value = undefined
          }}
        >
          Cancel
        </button>
      </p>
    </form>
  )
}
