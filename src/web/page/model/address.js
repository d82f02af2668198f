import { loadCalls } from './finished-calls.js'
import { change } from './state.js'

/** Shows the target that the address of the page names, `#target=production`: such an address can be bookmarked. */
export function readTarget() {
  const target = new URLSearchParams(location.hash.slice(1)).get('target') ?? ''
  change({ target })
  void loadCalls()
}

/** @param {string} target '' for all */
export function selectTarget(target) {
  history.replaceState(undefined, '', target === '' ? location.pathname : `#${new URLSearchParams({ target })}`)
  readTarget()
}
