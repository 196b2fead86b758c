// A module with a step, and those that it imports.

import { parse } from '@babel/parser'

export class Module {
  /**
   * @param imported gives the text of a module that this one imports
   * @param shared names of functions that Lua has too
   */
  constructor(text, imported, shared) {
    this.declared = new Map()
    this.imported = imported
    this.shared = shared
    /** The limit's constants in their order, each with its names in Lua: a list has several. */
    this.constants = new Map()
    const { program } = parse(text, { sourceType: 'module', plugins: ['typescript'] })
    for (const statement of program.body) this.declare(statement.declaration ?? statement)
  }

  declare(node) {
    const { declared } = this
    if (node.type === 'ImportDeclaration')
      for (const { local } of node.specifiers) declared.set(local.name, { from: node.source.value })
    else if (node.type === 'VariableDeclaration')
      for (const { id, init } of node.declarations) declared.set(id.name, init)
    else if (node.id) declared.set(node.id.name, node)
  }

  /** @returns what a name stands for, and the module that declares it; undefined: there is none */
  find(name) {
    const node = this.declared.get(name)
    if (node?.from === undefined) return node && { node, module: this }
    if (!node.from.startsWith('.')) return undefined
    const other = new Module(this.imported(node.from), this.imported, this.shared)
    other.constants = this.constants
    return other.find(name)
  }

  /** @returns the value of a constant that is a number, or a product of numbers; undefined: it is none */
  number(name) {
    const { node, module } = this.find(name) ?? {}
    return node && module.valueOf(node)
  }

  valueOf({ type, value, name, operator, left, right, object, property }) {
    if (type === 'NumericLiteral') return value
    if (type === 'Identifier') return this.number(name)
    if (type === 'MemberExpression' && object.name === 'Number') return Number[property.name]
    if (type !== 'BinaryExpression' || operator !== '*') return undefined
    return this.valueOf(left) * this.valueOf(right)
  }
}
