import type { ComponentChildren } from 'preact'

/** A drawing and what it says, in words. */
export function Figure({ children, words }: { children: ComponentChildren; words: string }) {
  return (
    <figure>
      <svg viewBox="0 0 180 72" aria-hidden="true">
        {children}
      </svg>
      <figcaption>{words}</figcaption>
    </figure>
  )
}
