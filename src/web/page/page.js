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

function alertItem({ target, alert, severity, state, value, threshold, since }) {
  const text = `${state}: ${alert} (${severity}) on ${target}, ${Number(value).toPrecision(3)} against ${threshold}, since ${since}`
  return element('li', text, state === 'firing' ? 'bad' : '')
}

async function fetchJson(path) {
  const response = await fetch(path)
  return response.json()
}

async function load() {
  const [{ targets, version }, { alerts }] = await Promise.all([fetchJson('api/v1/status'), fetchJson('api/v1/alerts')])
  byId('targets').replaceChildren(...targets.map(targetRow))
  byId('alerts').replaceChildren(...(alerts.length > 0 ? alerts.map(alertItem) : [element('li', 'none')]))
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
