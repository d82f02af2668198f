import { askForCalls } from './finished-calls.js'
import { change } from './state.js'

/** The target that the address names, so that a wall board can be bookmarked: `#target=production`. */
export function readTarget() {
  const target = new URLSearchParams(location.hash.slice(1)).get('target') ?? ''
  change({ target })
  void askForCalls()
}

/** @param {string} target '' for all */
export function chooseTarget(target) {
  history.replaceState(undefined, '', target === '' ? location.pathname : `#${new URLSearchParams({ target })}`)
  readTarget()
}
