import type { Operations } from '../operations.ts'

interface Props {
  readonly operations: Operations
  /** The key of the client. */
  readonly client: string
  /** Whether it is blocked or banned. */
  readonly isShut: boolean
}

export function ClientActions({ operations, client: key, isShut }: Props) {
  return (
    <span class="actions">
      <button
        type="button"
        aria-label={`Reset ${key}`}
        onClick={() => operations.ask({ name: 'reset', key })}
      >
        Reset
      </button>
      <button
        type="button"
        aria-label={`Block ${key}`}
        onClick={() => operations.ask({ name: 'block', key, duration: '1h' })}
      >
        Block
      </button>
      {isShut && (
        <button
          type="button"
          aria-label={`Unblock ${key}`}
          onClick={() => operations.ask({ name: 'unblock', key })}
        >
          Unblock
        </button>
      )}
    </span>
  )
}
