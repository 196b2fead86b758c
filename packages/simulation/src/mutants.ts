import type { Replacement } from './core.ts'

/** A mistake that somebody could make in core, and what it is called. */
export interface Mutant extends Replacement {
  readonly name: string
}

/** Mistakes that the simulator must find. */
export const mutants: readonly Mutant[] = [
  {
    name: 'a fixed window admits one unit more',
    file: 'algorithms/fixed-window/fixed-window.ts',
    text: 'const admitted = cost <= room && room > 0',
    by: 'const admitted = cost <= room + 1 && room > 0',
  },
  {
    name: 'a sliding window counts a millisecond more of the previous one',
    file: 'algorithms/sliding-window/sliding-window.ts',
    text: 'tickAt(this.windowMs - 1 - elapsed,',
    by: 'tickAt(this.windowMs - elapsed,',
  },
  {
    name: 'a sliding log keeps its oldest millisecond',
    file: 'algorithms/sliding-log/sliding-log.ts',
    text: 'log.time(i) <= now - this.windowMs; i += 1',
    by: 'log.time(i) < now - this.windowMs; i += 1',
  },
  {
    name: 'a bucket drains for a millisecond too long',
    file: 'algorithms/bucket/bucket.ts',
    text: '(now - state.b) * this.rate',
    by: '(now - state.b + 1) * this.rate',
  },
  {
    name: 'a full bucket admits what costs nothing',
    file: 'algorithms/bucket/bucket.ts',
    text: 'const needed = Math.max(cost, 1) * this.unit',
    by: 'const needed = cost * this.unit',
  },
  {
    name: 'a wait is a millisecond too short',
    file: 'algorithms/sliding-log/sliding-log.ts',
    text: 'return time + this.windowMs - now',
    by: 'return time + this.windowMs - now - 1',
  },
  {
    name: 'a refusal does not move the state to a clock that has stepped back',
    file: 'stores/rules/decide-all.ts',
    text: 'if (cost === 0 && !state.rebased) return false',
    by: 'if (cost === 0) return false',
  },
  {
    name: 'a slot is taken although all are in use',
    file: 'algorithms/concurrency/concurrency.ts',
    text: 'const admitted = cost <= room && room > 0',
    by: 'const admitted = cost <= room + 1',
  },
  {
    name: 'a policy that admits keeps its charge when another refuses',
    file: 'stores/transactional/transactional-ledger.ts',
    text: 'commitOne(state, charge, now, result.admitted ? charge.cost : 0)',
    by: 'commitOne(state, charge, now, state.admitted ? charge.cost : 0)',
  },
  {
    name: 'a give-back is made twice',
    file: 'stores/rules/decide-all.ts',
    text: 'applied.settle(state, now, cost, chargedAt, slot, reserved)',
    by: 'applied.settle(state, now, cost < 0 ? 2 * cost : cost, chargedAt, slot, reserved)',
  },
  {
    name: 'the store decides by the clock of the process',
    file: 'stores/transactional/transactional-ledger.ts',
    text: 'const states = new TransactionStates(sorted, bytes)',
    by: 'now = Date.now()\n      const states = new TransactionStates(sorted, bytes)',
  },
  {
    name: 'a state is forgotten before its quota is full',
    file: 'stores/transactional/transactional-ledger.ts',
    text: 'Math.max(1, keepMsOf(state, charge.limit, now))',
    by: 'keepMsOf(state, charge.limit, now) >> 1',
  },
  {
    name: 'calls of one transaction do not see each other',
    file: 'stores/transactional/join-transactions.ts',
    text: '        states.set(change.key, change.state)\n',
    by: '',
  },
  {
    name: 'what a request costs less is given back to the present',
    file: 'http/settlement/settlement.ts',
    text: 'await charge(less, policies, ends)',
    by: 'await charge(less, now, ends)',
  },
  {
    name: 'the store is given back what it never charged',
    file: 'stores/resilient/guarded-ledger.ts',
    text: "const isOfStore = source === 'store'",
    by: 'const isOfStore = true',
  },
  {
    name: 'a probe charges what was refused',
    file: 'stores/resilient/guarded-ledger.ts',
    text: 'return admitted && charge.slot === undefined ? charge : unpaid(charge)',
    by: 'return charge.slot === undefined ? charge : unpaid(charge)',
  },
  {
    name: 'a process alone admits more than its share',
    file: 'stores/resilient/guarded-ledger.ts',
    text: 'if (this.failureMode.localShare === 1) return charges',
    by: 'if (this.failureMode.localShare <= 1) return charges',
  },
  {
    name: 'a process alone forgets what the store has admitted',
    file: 'stores/resilient/guarded-ledger.ts',
    text: 'if (result.admitted) this.local?.settle(this.localCharges(charges))\n      return',
    by: 'return',
  },
  {
    name: 'a call that was given up fails a second time',
    file: 'stores/calls/store-calls.ts',
    text: 'if (inTime) call.failed(answer)',
    by: 'call.failed(answer)',
  },
  {
    name: 'a call is given up after twice its deadline',
    file: 'stores/calls/deadline.ts',
    text: 'call.dueAt <= counted; ) {',
    by: 'call.dueAt + this.ms <= counted; ) {',
  },
  {
    name: 'the breaker stays open',
    file: 'stores/calls/store-calls.ts',
    text: '    this.isTrusted = true\n    this.failure = undefined',
    by: '    this.failure = undefined',
  },
  {
    name: 'the breaker probes without a random part',
    file: 'stores/calls/breaker.ts',
    text: 'this.probeAt = now + mean * (0.5 + Math.random())',
    by: 'this.probeAt = now + mean',
  },
  {
    name: 'a refusal is remembered for too long',
    file: 'stores/resilient/refusals.ts',
    text: 'Math.min(refusal.retryAfterMs, refusal.ownMs) - 1',
    by: 'Math.min(refusal.retryAfterMs, refusal.ownMs) + 50',
  },
  {
    name: 'a remembered refusal answers for other costs',
    file: 'stores/resilient/refusals.ts',
    text: 'if (cost > 1 || slot !== undefined ||',
    by: 'if (slot !== undefined ||',
  },
  {
    name: 'a slot is renewed after its release',
    file: 'limiter/held-slots.ts',
    text: '    this.renewed.delete(slot)\n',
    by: '',
  },
  {
    name: 'a late answer to a probe renews slots that were given back',
    file: 'stores/resilient/guarded-ledger.ts',
    text: '.then(renewInTime)',
    by: '.then(renew)',
  },
  {
    name: 'a slot is not given back',
    file: 'stores/rules/slots.ts',
    text: 'charge.limit.algorithm.holdsSlots ? -1 : 0',
    by: '0',
  },
  {
    name: 'slots are renewed too late',
    file: 'limiter/held-slots.ts',
    text: 'this.periodMs = this.holdMs / 3',
    by: 'this.periodMs = this.holdMs * 1.1',
  },
  {
    name: 'a bucket gives back what has drained',
    file: 'algorithms/bucket/bucket.ts',
    text: 'change = Math.min(0, change + drained)',
    by: 'change = Math.min(0, change)',
  },
  {
    name: 'a process that should refuse decides alone',
    file: 'stores/resilient/resilience.ts',
    text: "onStoreError === 'local' ? this.openLocal",
    by: "onStoreError !== 'allow' ? this.openLocal",
  },
  {
    name: 'a state is kept for too long',
    file: 'stores/transactional/transactional-ledger.ts',
    text: 'encodeState(state), ttlMs })',
    by: 'encodeState(state), ttlMs: 2 * ttlMs })',
  },
  {
    name: 'a renewal that fails is not caught',
    file: 'limiter/held-slots.ts',
    text: 'return isPromise(done) ? done.catch(() => {}) : undefined',
    by: 'return done as undefined',
  },
  {
    name: "a reset ends a client's own limit",
    file: 'stores/transactional/transactional-ledger.ts',
    text: 'if (this.isReadable(key)) state.terms = unended(this.of(key).terms, now)',
    by: 'this.isReadable(key)',
  },
  {
    name: 'a top-up is made again for the same id',
    file: 'stores/rules/own-terms.ts',
    text: "if (id !== '' && grants.some((each) => each.id === id)) return 'known'",
    by: '',
  },
  {
    name: 'an own limit ends the top-ups',
    file: 'stores/rules/own-terms.ts',
    text: 'current({ override, grants: terms?.grants ?? [] }, now)',
    by: 'current({ override, grants: [] }, now)',
  },
  {
    name: 'what was reserved and has come back is settled by the difference',
    file: 'algorithms/reserved/reserved.ts',
    text: 'this.inner.settle(state, now, reserved + delta, now)',
    by: 'this.inner.settle(state, now, delta, now)',
  },
  {
    name: 'a reservation comes back to the present',
    file: 'algorithms/reserved/reserved.ts',
    text: '-log.cost(i + 1), log.time(i + 1))',
    by: '-log.cost(i + 1), now)',
  },
  {
    name: 'what comes back to a bucket depends on who looks',
    file: 'algorithms/reserved/reserved.ts',
    text: 'drains ? log.time(i) : now',
    by: 'now',
  },
  {
    name: 'a settled reservation is renewed',
    file: 'algorithms/reserved/reserved.ts',
    text: 'if (slots.has(slot)) found.push',
    by: 'if (slots.has(slot) && slots.size > 1) found.push',
  },
  {
    name: 'a threshold is reported by each charge above it',
    file: 'limiter/thresholds.ts',
    text: 'if (used < level || full - before >= level) continue',
    by: 'if (used < level) continue',
  },
  {
    name: 'a threshold that is just reached is not reported',
    file: 'limiter/thresholds.ts',
    text: 'if (used < level ||',
    by: 'if (used <= level ||',
  },
  {
    name: 'a day lasts a millisecond longer',
    file: 'algorithms/calendar-window/calendar-window.ts',
    text: 'const hasEnded = now >= state.c',
    by: 'const hasEnded = now > state.c',
  },
  {
    name: 'calls in progress are not counted',
    file: 'stores/calls/store-calls.ts',
    text: 'if (this.active < MAX_ACTIVE || timersEndWithRequest)',
    by: 'if (this.active <= MAX_ACTIVE || timersEndWithRequest)',
  },
  {
    name: 'one refusal too many is remembered',
    file: 'stores/resilient/refusals.ts',
    text: 'if (this.refusals.size === MAX_KEYS) {',
    by: 'if (this.refusals.size > MAX_KEYS) {',
  },
  {
    name: 'a blocked network is not asked for again',
    file: 'stores/networks/network-blocks.ts',
    text: 'this.dueAt = now + READ_EVERY_MS',
    by: 'this.dueAt = Infinity',
  },
  {
    name: 'a wait that was aborted stays charged',
    file: 'limiter/wait-queues.ts',
    text: `    } else if (!isWaiting) {
      await this.undo(head, decision)`,
    by: '    } else if (!isWaiting) {',
  },
  {
    name: 'lower priorities come first',
    file: 'limiter/wait-queues.ts',
    text: 'sort((one, other) => other - one)',
    by: 'sort((one, other) => one - other)',
  },
  {
    name: 'a wait is given up before that is certain',
    file: 'limiter/wait-queues.ts',
    text: 'deadline < queue.certainAt))',
    by: 'deadline < queue.certainAt + 500))',
  },
  {
    name: 'a wait does not end in time',
    file: 'limiter/wait-queues.ts',
    text: 'const isLate = deadline < now && waiter !== head',
    by: 'const isLate = deadline < now - 1000 && waiter !== head',
  },
  {
    name: 'what never fits a share never fits',
    file: 'limiter/wait-queues.ts',
    text: 'return decision.retryAfterMs === Infinity && isOfStore(decision)',
    by: 'return decision.retryAfterMs === Infinity',
  },
  {
    name: 'one that comes does not wake the others',
    file: 'limiter/wait-queues.ts',
    text: `      if (queue.isServed) queue.wake()
      else void`,
    by: '      if (!queue.isServed) void',
  },
  {
    name: 'an aborted turn stays taken',
    file: 'limiter/wait-queues.ts',
    text: `    else void this.undo(waiter, admission)
`,
    by: '',
  },
]
