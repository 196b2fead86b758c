/** An object of a document. */
export type Node = { readonly [name: string]: unknown }

/** The components of a document, with those that are added. */
export class Components {
  readonly #document: Node
  readonly #added: Record<string, Record<string, unknown>> = {}

  constructor(document: object) {
    this.#document = document as Node
  }

  /** The member of the document that has them; none if nothing was added. */
  changed(): { components?: object } {
    const { components = {} } = this.#document as { components?: Node }
    const added = Object.entries(this.#added).map(([section, all]) => {
      return [section, { ...(components[section] as Node), ...all }]
    })
    return added.length > 0 ? { components: { ...components, ...Object.fromEntries(added) } } : {}
  }

  /** An object of the document, or the one that it refers to; undefined if that is elsewhere. */
  resolve(given: unknown): Node | undefined {
    const { $ref } = (given ?? {}) as { $ref?: string }
    if ($ref === undefined) return (given ?? undefined) as Node | undefined
    const names = $ref.split('/').map((name) => name.replace(/~1/g, '/').replace(/~0/g, '~'))
    return names[0] === '#'
      ? names
          .slice(1)
          .reduce<Node | undefined>((node, name) => node?.[name] as Node, this.#document)
      : undefined
  }

  /** Adds a component, under another name if that one is taken by something else. */
  refer(section: string, name: string, component: object): { readonly $ref: string } {
    this.#added[section] ??= {}
    const added = this.#added[section]
    const given = (this.#document.components as Node | undefined)?.[section] as Node | undefined
    const same = JSON.stringify(component)
    let free = name
    for (let i = 2; JSON.stringify(added[free] ?? given?.[free] ?? component) !== same; i += 1)
      free = `${name}-${i}`
    added[free] = component
    return { $ref: `#/components/${section}/${free}` }
  }
}
