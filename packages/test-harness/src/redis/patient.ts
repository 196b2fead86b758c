/**
 * The options of limiters of which a test wants to see what Redis decides: a busy machine must not make the
 * process decide by itself, nor its memory of refusals answer.
 */
export const patient = { deadline: '1m', refusalCache: false } as const
