import { render } from 'preact'
import { App } from './app.tsx'
import { askForTime, keepDrawing } from './traffic/clock.ts'
import { Session } from './traffic/session.ts'

async function start(): Promise<void> {
  // Without an answer, the page shows what is wrong at the first request.
  const setClock = () => askForTime().catch(() => {})
  await setClock()
  keepDrawing()
  const session = new Session()
  render(<App session={session} />, document.body)

  document.addEventListener('visibilitychange', () => {
    // Out of sight timers are too slow for a pattern, and a computer that sleeps stops the clock.
    if (document.hidden) session.stop()
    else void setClock()
  })
}

void start()
