import { useSignal } from '@preact/signals'
import type { Operations, PolicyAction } from '../operations.ts'
import { HowLong, Sure } from './answers.tsx'

const EFFECTS = {
  limit: 'What clients have used stays counted.',
  'dry-run': 'It counts and reports as before, and refuses nobody.',
  enforce:
    'It refuses this share of the clients, always the same ones. For the others it is a dry run.',
  unset: 'Nothing is set any longer: the code decides.',
  rollback: 'The settings from before it hold again. Later changes are undone too:',
} as const

const VALUES = {
  limit: ['Units', '[0-9]+', ''],
  enforce: ['Percent of the clients', '(100|[0-9]{1,2})([.][0-9]+)?', '%'],
} as const

const DURATIONS = [
  ['15m', 'for 15 minutes'],
  ['1h', 'for 1 hour'],
  ['1d', 'for 1 day'],
  ['7d', 'for 7 days'],
  ['', 'until it is changed'],
] as const

interface Props {
  readonly operations: Operations
  readonly action: PolicyAction
}

/** Asks before a live policy is changed. */
export function PolicyQuestion({ operations, action }: Props) {
  const { title, undone = [] } = action
  const value = useSignal(action.value ?? '')
  const duration = useSignal(action.duration)
  const by = useSignal(action.by)
  const field =
    action.action === 'limit' || action.action === 'enforce' ? VALUES[action.action] : undefined
  const confirmed = (): PolicyAction => ({
    ...action,
    ...(field === undefined ? {} : { value: value.value }),
    duration: duration.value || undefined,
    by: by.value,
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void operations.confirmPolicy(confirmed())
      }}
    >
      <h2 id="question">{title}?</h2>
      <p>{EFFECTS[action.action]} Every process has it within two seconds.</p>
      {undone.length > 0 && (
        <ul>
          {undone.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      {action.duration !== undefined && (
        <p class="fields">
          {field !== undefined && (
            <>
              <input
                type="text"
                inputMode="decimal"
                pattern={field[1]}
                required
                aria-label={field[0]}
                value={value.value}
                onInput={({ currentTarget }) => {
                  value.value = currentTarget.value
                }}
              />
              {field[2]}
            </>
          )}
          <HowLong times={DURATIONS} duration={duration} />
        </p>
      )}
      <p>
        <label>
          Changed by{' '}
          <input
            type="text"
            autocomplete="off"
            maxLength={100}
            required
            value={by.value}
            onInput={({ currentTarget }) => {
              by.value = currentTarget.value
            }}
          />
        </label>
      </p>
      <Sure operations={operations} text="change it" />
    </form>
  )
}
