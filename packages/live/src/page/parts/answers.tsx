import { useSignal } from '@preact/signals'
import { algorithms } from '../../limits.ts'
import { type Answer, FIELDS, isAdmitted } from '../traffic/answer.ts'
import type { Session } from '../traffic/session.ts'

/** The header fields of the last answers as they came, newest first. */
export function Answers({ session }: { session: Session }) {
  const chosen = useSignal('')
  const shown = session.listed.value.filter(
    ({ algorithm }) => chosen.value === '' || algorithm === chosen.value,
  )
  return (
    <div class="answers">
      <header>
        <h2 id="answers">Server responses</h2>
        <label>
          from{' '}
          <select
            onChange={({ currentTarget }) => {
              chosen.value = currentTarget.value
            }}
          >
            <option value="">all six</option>
            {algorithms.map((algorithm) => (
              <option key={algorithm}>{algorithm}</option>
            ))}
          </select>
        </label>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must get there */}
      <section class="scroll" tabIndex={0} aria-labelledby="answers">
        <table>
          <thead>
            <tr>
              {['Request', 'Time', 'GET', 'Status', ...FIELDS].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((answer) => (
              <AnswerRow key={`${answer.number} ${answer.algorithm}`} answer={answer} />
            ))}
          </tbody>
        </table>
        {shown.length === 0 && <p>No responses yet. Send a request.</p>}
      </section>
    </div>
  )
}

function AnswerRow({ answer }: { answer: Answer }) {
  return (
    <tr>
      <td>{answer.number}</td>
      <td>{new Date(answer.answeredAt).toISOString().slice(11, 23)}</td>
      <td>/try/{answer.algorithm}</td>
      <td class={isAdmitted(answer) ? 'status' : 'status refused'}>{answer.status}</td>
      {FIELDS.map((name) => (
        <td key={name}>
          <code>{answer.fields.get(name)}</code>
        </td>
      ))}
    </tr>
  )
}
