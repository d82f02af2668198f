/** How many transitions the page keeps. */
const FEED_LENGTH = 50

const byId = (id) => document.getElementById(id)
const element = (name, text, className = '') =>
  Object.assign(document.createElement(name), { textContent: text, className })
const rounded = (minutes) => minutes.toFixed(1)
const ago = (seconds) => (seconds < 90 ? `${Math.round(seconds)} s ago` : `${Math.round(seconds / 60)} min ago`)

function targetRow(target) {
  const row = document.createElement('tr')
  const { finished, minutes } = target
  const state = target.up
    ? element('td', 'up', 'good')
    : element('td', target.problem ?? 'waiting for the first look', 'bad')
  const numbers = [
    target.in_progress,
    target.participants_in_progress,
    finished.ended,
    finished.unanswered,
    finished.rejected,
    finished.canceled,
    rounded(minutes.audio),
    rounded(minutes.video),
    target.last_success === null ? 'never' : ago(target.lag_seconds),
  ]
  row.append(element('td', target.name), state, ...numbers.map((value) => element('td', value)))
  return row
}

function alertItem({ target, alert, severity, labels, state, value, threshold, since }) {
  const group = Object.values(labels).join(' ')
  const text = `${state}: ${alert}${group && ` ${group}`} (${severity}) on ${target}, ${Number(value).toPrecision(3)} against ${threshold}, since ${since}`
  return element('li', text, state === 'firing' ? 'bad' : '')
}

function silenceItem({ id, match, until, reason }) {
  const picked = Object.entries(match).map(([label, value]) => `${label}=${value}`)
  const what = picked.join(', ') || 'every alert'
  return element('li', `silenced (${id}): ${what}, until ${until}${reason && `: ${reason}`}`)
}

async function fetchJson(path) {
  const response = await fetch(path)
  return response.json()
}

async function load() {
  const paths = ['api/v1/status', 'api/v1/alerts', 'api/v1/silences']
  const [{ targets, version }, { alerts }, { silences }] = await Promise.all(paths.map(fetchJson))
  byId('targets').replaceChildren(...targets.map(targetRow))
  const items = [...alerts.map(alertItem), ...silences.map(silenceItem)]
  byId('alerts').replaceChildren(...(items.length > 0 ? items : [element('li', 'none')]))
  byId('state').textContent = `live, version ${version}`
}

const showFailure = () => {
  byId('state').textContent = 'not connected: these numbers are not live'
}
const reload = () => void load().catch(showFailure)

const events = new EventSource('api/v1/events')
events.addEventListener('open', reload)
events.addEventListener('error', showFailure)
events.addEventListener('reset', reload)
events.addEventListener('alert', reload)
events.addEventListener('transition', ({ data }) => {
  const { at, target, session_id: id, mode, type, from, to } = JSON.parse(data)
  const feed = byId('feed')
  document.getElementById('quiet')?.remove()
  feed.prepend(element('li', `${at.slice(11, 19)}  ${target}  ${id}  ${type} ${mode}  ${from} → ${to}`))
  while (feed.children.length > FEED_LENGTH) feed.lastChild.remove()
})
setInterval(reload, 2000)
reload()
