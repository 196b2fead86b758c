import { useId, useRef } from 'preact/hooks'
import type { Operations, Question } from '../operations.ts'

interface Props {
  readonly operations: Operations
  readonly label: string
  /** The subject of the questions, which is a part of their names too. */
  readonly of: string
  readonly questions: readonly (readonly [name: string, question: Question])[]
}

/** A button that opens a menu of changes. */
export function Menu({ operations, label, of, questions }: Props) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  return (
    <>
      <button ref={button} type="button" class="more" popovertarget={id} aria-label={label}>
        ⋯
      </button>
      <div
        ref={menu}
        id={id}
        popover="auto"
        class="menu"
        onBeforeToggle={({ newState }) => {
          if (newState === 'open')
            place(menu.current as HTMLElement, button.current as HTMLElement, questions.length)
        }}
      >
        {questions.map(([name, question]) => (
          <button
            key={name}
            type="button"
            aria-label={`${name} ${of}`}
            onClick={() => {
              // The focus goes back to the button, and returns there after the question.
              menu.current?.hidePopover()
              operations.asked.value = question
            }}
          >
            {name}
          </button>
        ))}
      </div>
    </>
  )
}

/** Height of a choice, px. */
const CHOICE = 40

/** Puts the menu below its button, or above it where there is no room. */
function place({ style }: HTMLElement, button: HTMLElement, choices: number): void {
  const { top, bottom, right } = button.getBoundingClientRect()
  const height = choices * CHOICE + 16
  const isBelow = bottom + height < innerHeight || top < height
  style.top = `${scrollY + (isBelow ? bottom : top - height)}px`
  style.right = `${document.documentElement.clientWidth - right}px`
}
