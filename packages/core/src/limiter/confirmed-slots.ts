/** Keys with slots to be forgotten, and slots of each, at most: the store forgets the others by itself. */
const MAX_KEYS = 10_000
const MAX_SLOTS = 2000
/** How many one settlement forgets: as many as there are at once disappear with further settlements. */
const FORGETS = 2

/** The slots whose settlements a store has confirmed at the first attempt, so that it need not remember them. */
export class ConfirmedSlots {
  readonly #slots = new Map<string, number[]>()

  /** Takes some slots of a key out. */
  take(key: string): readonly number[] {
    const slots = this.#slots.get(key)
    if (slots === undefined) return []
    if (slots.length <= FORGETS) this.#slots.delete(key)
    return slots.splice(-FORGETS)
  }

  add(key: string, slot: number): void {
    const slots = this.#slots.get(key)
    if (slots !== undefined) {
      if (slots.length < MAX_SLOTS) slots.push(slot)
      return
    }
    if (this.#slots.size === MAX_KEYS) this.#slots.delete(this.#slots.keys().next().value as string)
    this.#slots.set(key, [slot])
  }
}
