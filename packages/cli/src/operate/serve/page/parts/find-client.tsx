import { useSignal } from '@preact/signals'
import { blockText, policyText, standingText } from '../../../entry-text.ts'
import type { Operations } from '../operations.ts'
import { ClientActions } from './client-actions.tsx'

/** Finds a client by its key, also one that the store keeps as a digest. */
export function FindClient({ operations }: { operations: Operations }) {
  const typed = useSignal('')
  const { typed: client, record: found } = operations.found.value ?? {}
  return (
    <section aria-labelledby="find">
      <h2 id="find" class="unseen">
        Find a client
      </h2>
      <form
        class="find"
        onSubmit={(event) => {
          event.preventDefault()
          if (typed.value !== '') void operations.find(typed.value)
        }}
      >
        <label>
          <span>Address, network or key</span>
          <input
            type="text"
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => {
              typed.value = currentTarget.value
            }}
          />
        </label>
        <button type="submit">Find</button>
      </form>
      {client !== undefined && found !== undefined && (
        <article class="found" aria-label="The client">
          <header>
            <h3>
              <code>{found.key}</code>
            </h3>
            <ClientActions
              operations={operations}
              client={client}
              entries={found.entries.map((entry) =>
                entry.key === found.key ? { ...entry, key: client } : entry,
              )}
              isShut={
                found.entries.some(({ blockedMs, bannedMs }) => blockedMs + bannedMs > 0) ||
                found.networks.some(({ network }) => network === found.key)
              }
            />
          </header>
          {found.nothing !== undefined && <p>{found.nothing}</p>}
          <ul>
            {found.networks.map((each) => (
              <li key={each.network}>
                in the network {each.network}: <b>{blockText(each)}</b>
              </li>
            ))}
            {found.entries.map((entry) => (
              <li key={entry.prefix + entry.keyspace}>
                {policyText(entry)}: <b>{standingText(entry)}</b>
              </li>
            ))}
          </ul>
        </article>
      )}
    </section>
  )
}
