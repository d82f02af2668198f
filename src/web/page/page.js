import { Page } from './components/page.js'
import { html } from './html.js'
import { followEvents } from './model/events.js'
import { keepTime, refresh } from './model/snapshots.js'
import { onChange } from './model/state.js'
import { troublesOf } from './model/staleness.js'
import { readTarget } from './model/target.js'
import { shownAlerts } from './model/totals.js'
import { render } from './vendor/preact.js'

const place = document.getElementById('page')
place?.replaceChildren()

onChange((state) => {
  if (place !== null) render(html`<${Page} state=${state} />`, place)
  const firing = shownAlerts(state).filter(({ state }) => state !== 'pending').length
  const trouble = troublesOf(state).length > 0 ? 'not live – ' : ''
  document.title = `${trouble}${firing > 0 ? `${firing} firing – ` : ''}callwatch`
})
addEventListener('hashchange', readTarget)
document.addEventListener('visibilitychange', () => void refresh())
readTarget()
followEvents()
keepTime()
