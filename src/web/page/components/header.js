import { html } from '../html.js'
import { addressOf, namedTargets } from '../model/address.js'
import { clock, zone, zoneName } from '../model/format.js'
import { isAllStale, snapshotAge, staleTargets } from '../model/notices.js'
import { changeAddress } from '../model/views.js'
import { Select } from './fields.js'

/** @import { State } from '../model/state.js' */

const LINKS = /** @type {const} */ ([
  ['overview', 'Overview'],
  ['charts', 'Charts'],
  ['calls', 'Calls'],
  ['usage', 'Usage'],
  ['silences', 'Silences'],
])

/** @param {{ state: State }} props */
export function Header({ state }) {
  const { snapshot, target, view, query } = state
  const names = snapshot?.status.targets.map(({ name }) => name) ?? []
  return html`<header>
    <h1>callwatch</h1>
    <nav aria-label="Views">
      ${LINKS.map(
        ([name, title]) =>
          html`<a href=${addressOf(name, { target: namedTargets() })} aria-current=${name === view ? 'page' : undefined}
            >${title}</a
          >`,
      )}
    </nav>
    ${
      view === 'overview' &&
      names.length > 1 &&
      html`<${Select}
        id="target"
        label="Target"
        value=${target}
        options=${[['', `all ${names.length}`], ...names.map((name) => [name, name])]}
        onSelect=${(/** @type {string} */ target) => changeAddress({ target })}
      />`
    }
    ${zoneSelect(query)}
    <p class="now">
      ${badge(state)}${snapshot !== undefined && html`<span class="soft"> version ${snapshot.status.version}</span>`}
    </p>
  </header>`
}

/**
 * The choice of the zone of all times; absent where the reader's zone is UTC.
 *
 * @param {URLSearchParams} query
 */
function zoneSelect(query) {
  const own = new Intl.DateTimeFormat().resolvedOptions().timeZone
  if (own === 'UTC' && zoneName() === 'UTC') return false
  const value = zoneName() === own ? '' : (query.get('zone') ?? '')
  const options = [['', `local (${own})`], ...(own === 'UTC' ? [] : [['UTC', 'UTC']])]
  const select = (/** @type {string} */ zone) => changeAddress({ zone })
  return html`<${Select} id="zone" label="Times" value=${value} options=${options} onSelect=${select} />`
}

/** @param {State} state */
function badge(state) {
  const { snapshot } = state
  if (snapshot === undefined) return html`<span class="badge">connecting…</span>`
  if (isAllStale(state)) return html`<span class="badge bad">not live</span>`
  const stale = staleTargets(state).length
  const now = new Date(Date.parse(snapshot.status.now) + snapshotAge(state) * 1000).toISOString()
  return html`${
      stale > 0
        ? html`<span class="badge bad">${stale} of ${snapshot.status.targets.length} targets stale</span>`
        : html`<span class="badge good">live</span>`
    } <time>${clock(now)} ${zone(now)}</time>`
}
