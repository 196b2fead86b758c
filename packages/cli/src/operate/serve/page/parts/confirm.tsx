import { useSignalEffect } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { Field, Operations, Question } from '../operations.ts'

/** Asks before anything is changed. */
export function Confirm({ operations }: { operations: Operations }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useSignalEffect(() => {
    if (operations.asked.value === undefined) dialog.current?.close()
    else dialog.current?.showModal()
  })
  const question = operations.asked.value
  return (
    <dialog
      ref={dialog}
      aria-labelledby="question"
      onClose={({ currentTarget }) => {
        // The event of one question may come when the next one is open.
        if (!currentTarget.open) operations.asked.value = undefined
      }}
    >
      {question !== undefined && <Form operations={operations} question={question} />}
    </dialog>
  )
}

function Form({ operations, question }: { operations: Operations; question: Question }) {
  const { title, effect, lines = [], fields = [], yes } = question
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void operations.confirm(question, new FormData(event.currentTarget))
      }}
    >
      <h2 id="question">{title}?</h2>
      <p>{effect}</p>
      {lines.length > 0 && (
        <ul>
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      {fields.map((field) => (
        <Choice key={field.name} field={field} />
      ))}
      <p class="actions">
        <button type="submit" class="sure">
          {yes}
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

function Choice({ field: { name, label, value, choices, pattern } }: { field: Field }) {
  return (
    <label class="field" for={name}>
      {label}
      {choices === undefined ? (
        <input
          type="text"
          id={name}
          name={name}
          defaultValue={value}
          inputMode={pattern === undefined ? 'text' : 'decimal'}
          pattern={pattern}
          maxLength={100}
          autocomplete="off"
          required
        />
      ) : (
        <select id={name} name={name}>
          {choices.map(([choice, words]) => (
            <option key={choice} value={choice} selected={choice === value}>
              {words}
            </option>
          ))}
        </select>
      )}
    </label>
  )
}
