import { changedAddress, readAddress } from './address.js'
import { loadCall } from './call.js'
import { loadCharts, stopCharts } from './charts.js'
import { loadExplorer, stopSearch } from './explorer.js'
import { loadCalls } from './finished-calls.js'
import { loadSilencing } from './silences.js'
import { current } from './state.js'
import { loadUsage } from './usage.js'

/** @import { Parameters } from './address.js' */

const LOADERS = {
  overview: () => loadCalls(),
  charts: loadCharts,
  calls: loadExplorer,
  call: loadCall,
  usage: loadUsage,
  silences: loadSilencing,
}

/** Loads what the view shows. Without a snapshot it waits for the first one, which has the clock of the server. */
export function loadView() {
  const { view, snapshot } = current()
  if (snapshot !== undefined) void LOADERS[view]()
}

/** Shows what the address names. */
export function showAddress() {
  stopSearch()
  stopCharts()
  readAddress()
  loadView()
}

/**
 * Changes parameters of this view.
 *
 * @param {Parameters} changed
 */
export function changeAddress(changed) {
  history.replaceState(undefined, '', changedAddress(changed))
  showAddress()
}

/**
 * Goes to another address of the page, from which the browser goes back.
 *
 * @param {string} address
 */
export function goTo(address) {
  history.pushState(undefined, '', address)
  showAddress()
}

/**
 * Follows a link to a view without reloading the page.
 *
 * @param {MouseEvent} event
 */
export function followLink(event) {
  const link = event.target instanceof Element ? event.target.closest('a') : null
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey
  if (link === null || !isPlain || event.defaultPrevented || link.hasAttribute('download')) return
  if (link.origin !== location.origin || link.pathname !== location.pathname) return
  event.preventDefault()
  goTo(link.href)
  scrollTo(0, 0)
  document.getElementById('content')?.focus({ preventScroll: true })
}
