import { html } from '../html.js'
import { isAllStale } from '../model/notices.js'
import { Alerts } from './alerts.js'
import { Banner } from './banner.js'
import { CallDetails } from './call-details.js'
import { CallsExplorer } from './calls-explorer.js'
import { Charts } from './charts.js'
import { FailureRatio } from './failure-ratio.js'
import { Feed } from './feed.js'
import { FinishedCalls } from './finished-calls.js'
import { FinishedPerMinute } from './finished-per-minute.js'
import { Header } from './header.js'
import { InProgress } from './in-progress.js'
import { Overview } from './overview.js'
import { PastAlerts } from './past-alerts.js'
import { Silences } from './silences.js'
import { Silencing } from './silencing.js'
import { Targets } from './targets.js'
import { Tiles } from './tiles.js'
import { Usage } from './usage.js'
import { Webhooks } from './webhooks.js'

/** @import { State } from '../model/state.js' */

/** What each view shows, in order. */
const PARTS = {
  overview: [
    Tiles,
    Alerts,
    PastAlerts,
    Silences,
    Overview,
    FinishedPerMinute,
    FailureRatio,
    InProgress,
    Targets,
    Webhooks,
    Feed,
    FinishedCalls,
  ],
  charts: [Charts],
  calls: [CallsExplorer],
  call: [CallDetails],
  usage: [Usage],
  silences: [Silencing],
}

/**
 * The page as a function of the state.
 *
 * @param {{ state: State }} props
 */
export function Page({ state }) {
  const { snapshot, view } = state
  const commits = snapshot?.status.targets.map(({ commit }) => commit).join(' ')
  // The other views show the past.
  const isStale = view === 'overview' && isAllStale(state)
  return html`<div class=${isStale ? 'page stale' : 'page'}>
    <a class="skip" href="#content" onClick=${skip}>Skip to content</a>
    <${Header} state=${state} />
    <${Banner} state=${state} />
    <main id="content" tabindex="-1" data-commits=${commits}>
      ${snapshot !== undefined && PARTS[view].map((part) => html`<${part} key=${part.name} state=${state} />`)}
    </main>
  </div>`
}

/**
 * Moves the focus without a change of the address, which names the view.
 *
 * @param {Event} event
 */
function skip(event) {
  event.preventDefault()
  document.getElementById('content')?.focus()
}
