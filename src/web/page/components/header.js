import { html } from '../html.js'
import { selectTarget } from '../model/address.js'
import { clock, zone } from '../model/format.js'
import { isAllStale, snapshotAge, staleTargets } from '../model/notices.js'

/** @import { State } from '../model/state.js' */

/** @param {{ state: State }} props */
export function Header({ state }) {
  const { snapshot, target } = state
  const names = snapshot?.status.targets.map(({ name }) => name) ?? []
  return html`<header>
    <h1>callwatch</h1>
    ${
      names.length > 1 &&
      html`<label
        >Target
        <select
          id="target"
          value=${target}
          onChange=${(/** @type {any} */ { target: selected }) => selectTarget(selected.value)}
        >
          <option value="" selected=${target === ''}>all ${names.length}</option>
          ${names.map((name) => html`<option value=${name} selected=${target === name}>${name}</option>`)}
        </select>
      </label>`
    }
    <p class="now">
      ${badge(state)}${snapshot !== undefined && html`<span class="soft"> version ${snapshot.status.version}</span>`}
    </p>
  </header>`
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
