import type { Mutant } from '../mutants.ts'

/** Mistakes in how load is shed that a run with too much of it must find. */
export const overloadMutants: readonly Mutant[] = [
  {
    name: 'Load: a reserved share is given away',
    file: 'overload/admission.ts',
    text: 'for (const each of this.#classes) if (each !== own) free -= each.kept(this.limit)',
    by: '{}',
  },
  {
    name: 'Load: the limit never rises',
    file: 'overload/control.ts',
    text: 'const limit = Math.min(Math.max(wanted, least), most)',
    by: 'const limit = Math.min(wanted, seen.limit)',
  },
  {
    name: 'Load: the limit never falls',
    file: 'overload/control.ts',
    text: 'Math.min(1, TOLERANCE / slowness)',
    by: '1',
  },
  {
    name: 'Load: the limit of a crowd falls slowly',
    file: 'overload/control.ts',
    text: 'slowness > CROWD ? SMOOTHING_IN_CROWD : SMOOTHING',
    by: 'SMOOTHING',
  },
  {
    name: 'Load: the queue is unbounded',
    file: 'overload/admission.ts',
    text: 'while (this.waiting >= this.#most) {',
    by: 'while (this.waiting < 0) {',
  },
  {
    name: 'Load: who has left keeps its place',
    file: 'overload/load-shedder.ts',
    text: '        admission.leave(waiter)\n',
    by: '',
  },
  {
    name: 'Load: the less important come first',
    file: 'overload/admission.ts',
    text: 'next ??= each',
    by: 'next = each',
  },
  {
    name: 'Load: a request overtakes those that wait',
    file: 'overload/admission.ts',
    text: 'if (this.waiting > 0 && this.#hasOlder(importance)) return undefined',
    by: '',
  },
  {
    name: 'Load: keys take no turns',
    file: 'overload/load-shedder.ts',
    text: 'admission.wait(importance, this.#compiled.keyOf(request))',
    by: "admission.wait(importance, '')",
  },
  {
    name: 'Load: a request waits for too long',
    file: 'overload/admission.ts',
    text: 'let ageMs = this.#options.maxWaitMs',
    by: 'let ageMs = 3 * this.#options.maxWaitMs',
  },
  {
    name: 'Load: a client that leaves frees the place of what is done for it',
    file: 'overload/load-shedder.ts',
    text: 'adapter.whenClosed(response, () => adapter.whenEnded(response, end))',
    by: 'adapter.whenClosed(response, end)',
  },
  {
    name: 'Load: what has begun is cut',
    file: 'overload/load-shedder.ts',
    text: 'if (entry === undefined) return this.#wait(importance, request, response)\n',
    by: `if (entry === undefined) return this.#wait(importance, request, response)
    setTimeout(() => this.#refuse(response), 150)\n`,
  },
]
