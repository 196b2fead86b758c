import { DATA_ID, type PageData } from './data.ts'
import { drawDemand } from './demand.ts'
import { drawTimeline } from './timeline.ts'

const data: PageData = JSON.parse(document.getElementById(DATA_ID)!.textContent!)

/** Charts are in sight only now that they can be drawn. */
function reveal(selector: string): HTMLElement[] {
  const found = [...document.querySelectorAll<HTMLElement>(selector)]
  for (const element of found) element.hidden = false
  return found
}

for (const element of reveal('#timeline .charts')) drawTimeline(element, data)
reveal('#demand .charts').forEach((element, i) => {
  drawDemand(element, data.demand[i]!)
})
