/** A simulated language model: it repeats the prompt, one token per word. */
export async function complete(
  prompt: string,
  maxTokens: number,
): Promise<{ text: string; tokens: number }> {
  const words = prompt.split(' ').slice(0, maxTokens)
  return { text: words.join(' '), tokens: words.length }
}
