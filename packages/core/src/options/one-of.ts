type Widened<T> = T extends string ? string : number

/**
 * One of a few values, or any other of their type: in an object in a variable, the type of `'ip'` is
 * `string`. It is checked where it is used; editors complete the few.
 */
export type OneOf<T extends string | number> = T | (Widened<T> & Record<never, never>)
