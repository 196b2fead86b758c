import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import type { Source } from './source.ts'

/** What an application may rely on beside the count: the texts that show it, and what to see to. */
const BESIDES = [
  [
    /^access-control-allow-origin$/i,
    'browsers read a refusal only if it has Access-Control-Allow-Origin: set it before the limiter runs, or in respond.',
  ],
  [
    /(^|\/):?batch\b/i,
    'a request with several parts costs one unit, as any other. For one that counts its parts, write cost: (request) => ….',
  ],
] as const

/** Says what a limiter may have done besides. What its own options do stays in them. */
export function noteBesides(source: Source): void {
  const { rewritten } = source
  if (rewritten.length === 0) return
  source.program.traverse({
    StringLiteral(path: NodePath<t.StringLiteral>) {
      for (const [pattern, text] of BESIDES) {
        const isOwn = rewritten.some((call) => path.isDescendant(call))
        if (pattern.test(path.node.value) && !isOwn) source.note(path, text)
      }
    },
  })
}
