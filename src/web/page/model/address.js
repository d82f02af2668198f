import { chooseZone } from './format.js'
import { change, current } from './state.js'

/** The views of the page, by the hash of its address. */
export const VIEWS = /** @type {const} */ (['overview', 'charts', 'calls', 'call', 'usage', 'silences'])

/** @typedef {(typeof VIEWS)[number]} View */
/** @typedef {Record<string, string | readonly string[]>} Parameters */

/**
 * Reads the address of the page, which can be bookmarked: `?target=production&type=audio#calls` names a view and its
 * parameters, `#target=production` the target of the overview. `zone` is a parameter of all views.
 */
export function readAddress() {
  const [query, hash] = [new URLSearchParams(location.search), location.hash.slice(1)]
  const view = VIEWS.find((name) => name === hash) ?? 'overview'
  const target = view === 'overview' ? (new URLSearchParams(hash).get('target') ?? '') : ''
  chooseZone(query.get('zone') ?? '')
  change({ view, query, target })
}

/**
 * The address of a view, in the zone of the page unless it names another one. Parameters that are empty are left out.
 *
 * @param {View} view
 * @param {Parameters} [parameters]
 */
export function addressOf(view, parameters = {}) {
  const { target = [], zone = current().query.get('zone') ?? '', ...others } = parameters
  const named = view === 'overview' ? { zone } : { target, ...others, zone }
  const query = new URLSearchParams(
    Object.entries(named).flatMap(([name, values]) =>
      [values].flat().flatMap((value) => (value === '' ? [] : [[name, value]])),
    ),
  )
  const [shown = ''] = [target].flat()
  const hash = view !== 'overview' ? view : shown === '' ? '' : new URLSearchParams({ target: shown }).toString()
  return `./${query.size > 0 ? `?${query}` : ''}${hash && `#${hash}`}`
}

/**
 * The address of this view with some parameters changed.
 *
 * @param {Parameters} changed
 */
export function changedAddress(changed) {
  const { view, query, target } = current()
  const named = Object.fromEntries([...new Set(query.keys())].map((name) => [name, query.getAll(name)]))
  return addressOf(view, { ...named, ...(view === 'overview' && { target }), ...changed })
}

/**
 * The view of the calls that a request to the API has (`/api/v1/calls?…`). Without a time these are calls in progress.
 *
 * @param {string} request
 */
export function addressOfCalls(request) {
  const asked = new URLSearchParams(request.slice(request.indexOf('?') + 1))
  return addressOf('calls', { ...(!asked.has('since') && { status: 'in_progress' }), ...Object.fromEntries(asked) })
}

/** The targets that this view names. */
export const namedTargets = () => {
  const { view, query, target } = current()
  return view === 'overview' ? [target].filter(Boolean) : query.getAll('target')
}
