import { withRoom } from '../../log/columns.ts'

/** A client that met a refusal. */
interface Refused {
  readonly client: number
  /** Requests that were refused. */
  count: number
  /** When its current sequence of refusals began, ms; undefined: its last request was admitted. */
  sinceMs: number | undefined
  longestMs: number
}

/** Which clients were refused, how often and for how long without interruption. */
export class Refusals {
  longestMs = 0
  /** The clients in the order in which they were first refused. */
  readonly #refused: Refused[] = []
  /** The place of each client in that list, from 1; 0: never refused, as most are. */
  #places = new Int32Array(1024)

  /** Clients that met a refusal. */
  get clients(): number {
    return this.#refused.length
  }

  refuse(client: number, nowMs: number): void {
    const refused = this.#of(client) ?? this.#meet(client)
    refused.count += 1
    refused.sinceMs ??= nowMs
    const lasted = nowMs - refused.sinceMs
    if (lasted > refused.longestMs) refused.longestMs = lasted
    if (lasted > this.longestMs) this.longestMs = lasted
  }

  admit(client: number): void {
    const refused = this.#of(client)
    if (refused !== undefined) refused.sinceMs = undefined
  }

  /** Requests of the client that were refused. */
  count(client: number): number {
    return this.#of(client)?.count ?? 0
  }

  /** The longest that the client met nothing but refusals, from the first to the last, ms. */
  longestOf(client: number): number {
    return this.#of(client)?.longestMs ?? 0
  }

  /** The clients refused most, most first; of equal ones the earlier client. */
  worst(most: number): number[] {
    return this.#refused
      .toSorted((one, other) => other.count - one.count || one.client - other.client)
      .slice(0, most)
      .map(({ client }) => client)
  }

  #of(client: number): Refused | undefined {
    const place = this.#places[client]
    return place === undefined || place === 0 ? undefined : this.#refused[place - 1]
  }

  #meet(client: number): Refused {
    const refused: Refused = { client, count: 0, sinceMs: undefined, longestMs: 0 }
    this.#places = withRoom(this.#places, client)
    this.#places[client] = this.#refused.push(refused)
    return refused
  }
}
