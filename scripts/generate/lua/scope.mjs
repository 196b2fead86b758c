// The meanings of the names in a step.

import { atom, expression, OutsideSubset } from './expressions.mjs'

/** Fields of a state. */
const STATE = { a: 'number', b: 'number', c: 'number', rebased: 'boolean' }
const LUA_WORDS =
  'and do else elseif end for function if in local nil not or repeat then until while math'.split(
    ' ',
  )

export class Scope {
  /**
   * @param module what its names mean: `constants` of the limit, each with its names in Lua, `shared` functions that Lua has, and `find`
   * @param names of the parameters and variables: an expression, 'state' or 'constants'
   * @param taken names that a variable cannot have
   * @param canRaise whether it may change the constants
   */
  constructor(module, names, taken, canRaise = false) {
    this.module = module
    this.names = names
    this.taken = taken
    this.canRaise = canRaise
  }

  inner() {
    return new Scope(this.module, new Map(this.names), this.taken, this.canRaise)
  }

  lookUp(node) {
    const known = this.names.get(node.name) ?? this.module.number(node.name)
    if (known === undefined) throw new OutsideSubset(node, `${node.name} has no meaning in Lua`)
    return typeof known === 'number' ? atom(String(known)) : known
  }

  member(node) {
    const { object, property, computed } = node
    const known = object.type === 'Identifier' && this.names.get(object.name)
    if (known === 'constants' && !computed) return this.constant(property)
    if (known !== 'state' || computed || !Object.hasOwn(STATE, property.name))
      throw new OutsideSubset(node, 'a state has a, b, c and rebased, and a limit its constants')
    return atom(property.name, STATE[property.name])
  }

  constant(node) {
    const items = this.module.constants.get(node.name)
    if (items === undefined) throw new OutsideSubset(node, `${node.name} is none of the constants`)
    return items.length > 1 ? { ...atom(node.name, 'list'), items } : atom(node.name)
  }

  /** The target of an assignment. */
  target(node) {
    if (node.type === 'MemberExpression') {
      if (!this.canRaise && this.names.get(node.object.name) === 'constants')
        throw new OutsideSubset(node, 'only `own` changes constants')
      return this.member(node)
    }
    if (node.type !== 'Identifier' || !this.names.get(node.name)?.isVariable)
      throw new OutsideSubset(node, 'an assignment changes a variable or the state')
    return this.lookUp(node)
  }

  /** @returns the name of a new variable */
  declare({ name, ...node }, meaning) {
    if (this.taken.includes(name) || LUA_WORDS.includes(name) || this.shared(name))
      throw new OutsideSubset(node, `${name} means something else in Lua: take another name`)
    this.names.set(name, { ...meaning, isVariable: true })
    return name
  }

  shared(name) {
    return this.module.shared.includes(name)
  }

  /** @returns the statements of a function of the file that is called as one, and what names mean in it */
  statements(node) {
    const { callee, arguments: given } = node
    const { node: called, module } = this.module.find(callee.name) ?? {}
    if (called?.params === undefined)
      throw new OutsideSubset(node, 'it calls a function that is not in this file: write it here')
    const scope = new Scope(module, new Map(), this.taken, this.canRaise)
    for (const [i, parameter] of called.params.entries())
      scope.bind(parameter, this.meaning(given[i]))
    return { body: called.body.body, scope }
  }

  /** @returns what a function of the file returns, and what names mean in it; undefined: there is none */
  helper({ callee, arguments: given }) {
    const { node: called, module } = this.module.find(callee.name) ?? {}
    if (called?.params === undefined || this.shared(callee.name)) return undefined
    const [{ type, argument }] = called.body.body
    if (called.body.body.length !== 1 || type !== 'ReturnStatement')
      throw new OutsideSubset(called, 'a function that a step calls is a single return')
    const scope = new Scope(module, new Map(), this.taken)
    for (const [i, parameter] of called.params.entries())
      scope.bind(parameter, this.meaning(given[i]))
    return { returned: argument, scope }
  }

  meaning(node) {
    const known = node.type === 'Identifier' && this.names.get(node.name)
    return typeof known === 'string' ? known : expression(node, this)
  }

  /** Gives parameters their meanings: fields by name where one is taken apart. */
  bind(parameter, meaning) {
    if (parameter.type === 'Identifier') this.names.set(parameter.name, meaning)
    else if (parameter.type === 'ObjectPattern' && typeof meaning === 'string')
      for (const { key, value } of parameter.properties) {
        if (key?.name !== value?.name)
          throw new OutsideSubset(parameter, 'a name that is taken out stays the same')
        const isState = meaning === 'state' && Object.hasOwn(STATE, key.name)
        this.names.set(key.name, isState ? atom(key.name, STATE[key.name]) : this.constant(key))
      }
    else throw new OutsideSubset(parameter, 'a parameter is a name')
  }
}
