import type { NodePath } from '@babel/traverse'
import { importedFrom, resolved } from '../bindings.ts'
import { memberOf } from '../functions.ts'
import type { Imports, Use } from '../imports.ts'
import type { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'

/** `ipKeyGenerator(address)` always returns text, `addressKey(address)` only for an address. */
export function replaceAddressKey(source: Source, imports: Imports, use: Use): void {
  const call = use.path.parentPath
  if (!call?.isCallExpression() || use.path.key !== 'callee') return
  const [address, subnet] = call.get('arguments') as NodePath[]
  if (isRequest(address)) return
  imports.replace(use, 'addressKey')
  if (subnet?.isBooleanLiteral()) source.replace(subnet.node, '128')
  const isOperand = /^(Logical|Binary|Member|Conditional|TSAs)/.test(call.parent.type)
  source.edits.prependRight(call.node.start as number, isOperand ? '(' : '')
  source.edits.prependLeft(call.node.end as number, ` ?? 'unknown'${isOperand ? ')' : ''}`)
}

/** `ipKeyGenerator(request)`, which is the same for everybody there. */
export function checkAddress(source: Source, options: OptionsObject): void {
  const fn = options.value('keyGenerator')
  if (fn === undefined) return
  const isHelper = (path: NodePath) => importedFrom(path, 'express-rate-limit') === 'ipKeyGenerator'
  let isMisused = isHelper(fn)
  resolved(fn).traverse({
    CallExpression(path) {
      const [address] = path.get('arguments') as NodePath[]
      if (isHelper(path.get('callee') as NodePath) && isRequest(address)) isMisused = true
    },
  })
  if (isMisused) source.leave('ipKeyGenerator takes an address, not a request.')
}

/** `req`: a parameter of which members are read, or nothing else is done with. */
function isRequest(path: NodePath | undefined): boolean {
  if (!path?.isIdentifier()) return false
  const binding = path.scope.getBinding(path.node.name)
  if (binding?.kind !== 'param') return false
  return (
    /^req(uest)?$/.test(path.node.name) || binding.referencePaths.some((each) => memberOf(each))
  )
}
