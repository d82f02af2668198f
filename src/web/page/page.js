import { Page } from './components/page.js'
import { html } from './html.js'
import { receiveEvents } from './model/events.js'
import { isAllStale, staleTargets } from './model/notices.js'
import { refresh, startClock } from './model/snapshots.js'
import { onChange } from './model/state.js'
import { shownAlerts } from './model/totals.js'
import { followLink, showAddress } from './model/views.js'
import { render } from './vendor/preact.js'

const TITLES = {
  overview: '',
  charts: 'Charts – ',
  calls: 'Calls – ',
  call: 'Call – ',
  usage: 'Usage – ',
  silences: 'Silences – ',
}
const place = document.getElementById('page')
place?.replaceChildren()

onChange((state) => {
  if (place !== null) render(html`<${Page} state=${state} />`, place)
  const firing = shownAlerts(state).filter(({ state }) => state !== 'pending').length
  const stale = staleTargets(state).length
  const status = isAllStale(state) ? 'not live – ' : stale > 0 ? `${stale} stale – ` : ''
  document.title = `${status}${firing > 0 ? `${firing} firing – ` : ''}${TITLES[state.view]}callwatch`
})
addEventListener('popstate', showAddress)
addEventListener('click', followLink)
document.addEventListener('visibilitychange', () => void refresh())
showAddress()
receiveEvents()
startClock()
