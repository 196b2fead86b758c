export const project: string | undefined
export const entries: ReadonlyMap<string, string>
export const names: ReadonlySet<string>
export function isPacked(file: string): boolean
