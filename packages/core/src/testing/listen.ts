import { subscribe, unsubscribe } from 'node:diagnostics_channel'

/** The messages that are published on a channel, until `stop` is called. */
export interface Heard<T> {
  readonly events: readonly T[]
  stop(): void
}

/** @param names the names of channels; each of their messages is kept, in order */
export function listen<T>(...names: readonly string[]): Heard<T> {
  const events: T[] = []
  const hear = (message: unknown) => void events.push(message as T)
  for (const name of names) subscribe(name, hear)
  return {
    events,
    stop() {
      for (const name of names) unsubscribe(name, hear)
    },
  }
}
