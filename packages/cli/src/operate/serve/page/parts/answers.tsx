import type { Signal } from '@preact/signals'
import type { Operations } from '../operations.ts'

interface HowLongProps {
  /** Each with its words. */
  readonly times: readonly (readonly [string, string])[]
  readonly duration: Signal<string | undefined>
}

/** For how long something is to hold. */
export function HowLong({ times, duration }: HowLongProps) {
  return (
    <select
      aria-label="How long"
      onChange={({ currentTarget }) => {
        duration.value = currentTarget.value
      }}
    >
      {times.map(([value, text]) => (
        <option key={value} value={value} selected={value === duration.value}>
          {text}
        </option>
      ))}
    </select>
  )
}

/** The buttons of a question: it is done, or not. */
export function Sure({ operations, text }: { operations: Operations; text: string }) {
  return (
    <p class="actions">
      <button type="submit" class="sure">
        {text}
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
  )
}
