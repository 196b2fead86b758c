import { Answers } from './parts/answers.tsx'
import { Controls } from './parts/controls.tsx'
import { Lanes } from './parts/lanes.tsx'
import { isNarrow } from './parts/narrow.ts'
import { News } from './parts/news.tsx'
import type { Session } from './traffic/session.ts'

/** The buttons, the limiters and their answers: the page without what is around it. */
export function Limiters({ session }: { session: Session }) {
  return (
    <>
      <Controls session={session} />
      <News session={session} />
      <Lanes session={session} isShort={isNarrow.value} />
      <Answers session={session} />
    </>
  )
}
