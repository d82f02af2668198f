import { render } from 'preact'
import uplotStyle from 'uplot/dist/uPlot.min.css'
import coloursStyle from './colours.css'
import { showJump } from './components/jump.tsx'
import { Page } from './components/page.tsx'
import { DARK } from './components/plot.tsx'
import { followLink, readAddress, showAddress } from './model/address.ts'
import { receiveEvents } from './model/events.ts'
import { isLive, isSyncing } from './model/notices.ts'
import { startClock } from './model/snapshots.ts'
import { change, changeNow, current, onChange } from './model/state.ts'
import { isPointedAt } from './model/steady.ts'
import { shownAlerts } from './model/totals.ts'
import pageStyle from './page.css'
import partsStyle from './parts.css'
import { viewOf, VIEWS } from './views.tsx'

// In the order of their precedence.
document.adoptedStyleSheets = [uplotStyle, coloursStyle, pageStyle, partsStyle].map((text) => {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(text)
  return sheet
})
const place = document.getElementById('page')
place?.replaceChildren()
/** So many parts fill a screen. They are painted before the others are rendered. */
const FIRST_PARTS = 2
let most = FIRST_PARTS

onChange((state) => {
  if (place !== null) render(<Page state={{ ...state, isHeld: isPointedAt() }} most={most} />, place)
  if (most === FIRST_PARTS && state.snapshot !== undefined) {
    most = Infinity
    change({})
  }
  const firing = shownAlerts(state).filter(({ state }) => state !== 'pending').length
  const { name, title } = viewOf(state)
  const news = [
    isSyncing(state) ? 'initial sync' : !isLive(state) && 'not live',
    firing > 0 && `${firing} firing`,
    name !== 'overview' && title,
  ]
  const parts = [...(document.hidden ? ['paused'] : news), 'callwatch']
  document.title = parts.filter(Boolean).join(' – ')
})
addEventListener('popstate', () => {
  for (const { stop } of VIEWS) stop?.()
  readAddress(VIEWS.map(({ name }) => name))
  // Without a snapshot it waits for the first one, which has the clock of the server.
  if (current().snapshot !== undefined) void viewOf(current()).load?.()
})
addEventListener('click', followLink)
addEventListener('keydown', showJump)
// The sheets are made right after the event.
addEventListener('beforeprint', () => changeNow({ isPrinting: true }))
addEventListener('afterprint', () => change({ isPrinting: false }))
// Plots are drawn again in other colours.
matchMedia(DARK).addEventListener('change', () => change({}))
showAddress()
receiveEvents()
startClock()
