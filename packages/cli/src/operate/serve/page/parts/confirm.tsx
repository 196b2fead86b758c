import { useSignal, useSignalEffect } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { Action, Operations } from '../operations.ts'
import { HowLong, Sure } from './answers.tsx'
import { PolicyQuestion } from './policy-question.tsx'

const DURATIONS = [
  ['15m', '15 minutes'],
  ['1h', '1 hour'],
  ['1d', '1 day'],
  ['7d', '7 days'],
] as const

const EFFECTS = {
  reset: 'Its quotas are unused again, and its blocks and bans end.',
  unblock: 'Its blocks and bans end.',
  block: 'Every request of it is refused in every policy, for',
  limit: 'What it has used stays counted.',
} as const

const LIMIT_DURATIONS = [
  ['1d', 'for 1 day'],
  ['30d', 'for 30 days'],
  ['365d', 'for 365 days'],
  ['', 'until it is ended'],
] as const

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
      onClose={({ currentTarget }) => {
        // The event of one question may come when the next one is open.
        if (!currentTarget.open) operations.asked.value = undefined
      }}
    >
      {action !== undefined &&
        (action.name === 'policy' ? (
          <PolicyQuestion operations={operations} action={action} />
        ) : (
          <Question operations={operations} action={action} />
        ))}
    </dialog>
  )
}

function Question({ operations, action }: { operations: Operations; action: Action }) {
  const { name, key } = action
  const ends = action.name === 'limit' && action.units === undefined
  const duration = useSignal('duration' in action ? action.duration : undefined)
  const units = useSignal('units' in action ? action.units : undefined)
  const times = name === 'limit' ? LIMIT_DURATIONS : DURATIONS
  const confirmed = (): Action => {
    if (action.name === 'block') return { ...action, duration: duration.value as string }
    if (action.name !== 'limit' || ends) return action
    return { ...action, units: units.value, duration: duration.value || undefined }
  }
  const time = <HowLong times={times} duration={duration} />
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void operations.confirm(confirmed())
      }}
    >
      <h2 id="question">
        {ends ? 'end the limit of' : name} <code>{key}</code>
        {action.name === 'limit' && ` in ${action.policy}`}?
      </h2>
      <p>
        {EFFECTS[name]} {name === 'block' && time}
      </p>
      {name === 'limit' && !ends && (
        <p>
          <input
            type="text"
            inputMode="numeric"
            pattern="[0-9]+"
            required
            aria-label="Units"
            value={units.value}
            onInput={({ currentTarget }) => {
              units.value = currentTarget.value
            }}
          />{' '}
          {time}
        </p>
      )}
      <Sure operations={operations} text={ends ? 'end' : name} />
    </form>
  )
}
