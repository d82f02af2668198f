import { chooseZone } from './format.ts'
import { change, current } from './state.ts'

/** The views whose parts show the same target. */
export const OF_ONE = ['overview', 'alerts']

export type Parameters = Record<string, string | readonly string[]>

/**
 * Reads the address of the page, which can be bookmarked: `?target=production&type=audio#calls` names a view and its
 * parameters, `?target=production` or `#target=production` the target of the overview. `zone` is a parameter of all views.
 */
export function readAddress(views: readonly string[]) {
  const [query, hash] = [new URLSearchParams(location.search), location.hash.slice(1)]
  const isOverview = hash === '' || hash.startsWith('target=')
  const view = views.find((name) => name === hash) ?? (isOverview ? 'overview' : 'unknown')
  const target = [...OF_ONE, 'alert'].includes(view)
    ? (new URLSearchParams(hash).get('target') ?? query.get('target') ?? '')
    : ''
  if (target !== '') query.set('target', target)
  chooseZone(query.get('zone') ?? '')
  change({ view, query, target, shownFrom: 0 })
}

/** The address of a view, in the zone of the page unless it names another one. Parameters that are empty are left out. */
export function addressOf(view: string, parameters: Parameters = {}) {
  const { zone = current().query.get('zone') ?? '', ...others } = parameters
  const named = Object.entries({ target: [], ...others, zone }).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => (value === '' ? [] : [[name, value]])),
  )
  return `./${named.length > 0 ? `?${new URLSearchParams(named)}` : ''}${view === 'overview' ? '' : `#${view}`}`
}

/** The address of this view with some parameters changed. */
export function changedAddress(changed: Parameters) {
  const { view, query } = current()
  const named = Object.fromEntries([...new Set(query.keys())].map((name) => [name, query.getAll(name)]))
  return addressOf(view, { ...named, ...changed })
}

/**
 * The view of the calls that a request to the API has (`/api/v1/calls?…`). Without a time these are calls in progress.
 */
export function addressOfCalls(request: string) {
  const asked = new URLSearchParams(request.slice(request.indexOf('?') + 1))
  return addressOf('calls', { ...(!asked.has('since') && { status: 'in_progress' }), ...Object.fromEntries(asked) })
}

/** Shows what the address names, as after the buttons of the browser. */
export const showAddress = () => void dispatchEvent(new PopStateEvent('popstate'))

/** Changes parameters of this view. */
export const changeAddress = (changed: Parameters) => replaceAddress(changedAddress(changed))

export function replaceAddress(address: string) {
  history.replaceState(undefined, '', address)
  showAddress()
}

/** Goes to another address of the page, from which the browser goes back. */
export function goTo(address: string) {
  history.pushState(undefined, '', address)
  showAddress()
}

/** Goes to another view, which the keyboard and a screen reader begin to read. */
export function openView(address: string) {
  goTo(address)
  scrollTo(0, 0)
  document.getElementById('content')?.focus({ preventScroll: true })
}

/** Follows a link to a view without reloading the page. */
export function followLink(event: MouseEvent) {
  const link = event.target instanceof Element ? event.target.closest('a') : null
  const isModified = [event.button !== 0, event.ctrlKey, event.metaKey, event.shiftKey, event.altKey].includes(true)
  if (link === null || isModified || event.defaultPrevented || link.hasAttribute('download')) return
  if (link.origin !== location.origin || link.pathname !== location.pathname) return
  event.preventDefault()
  openView(link.href)
}
