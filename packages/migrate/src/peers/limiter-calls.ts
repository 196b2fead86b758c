import { leaveUse, type Rewriting, rewritingOf } from '../find-options.ts'
import { callOf, type Imports, isTypeUse, type Use, type UseCall } from '../imports.ts'

/** The calls of a file that make limiters. */
export interface LimiterCalls {
  readonly calls: readonly UseCall[]
  readonly rewriting: Rewriting
}

/** @param uses the functions that make limiters */
export function limiterCalls(imports: Imports, uses: readonly Use[]): LimiterCalls {
  const calls = uses.flatMap((use) => callOf(use) ?? [])
  const rewritten = calls.map(({ call }) => call).filter((call) => !imports.source.isLeft(call))
  return { calls, rewriting: rewritingOf(imports, rewritten) }
}

/** Leaves functions that are neither called nor a type. */
export function leavePassedOn({ source }: Imports, uses: readonly Use[]): void {
  for (const use of uses) {
    if (!callOf(use) && !isTypeUse(use.path)) source.migrate(use.path, () => leaveUse(source))
  }
}
