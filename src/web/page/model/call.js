import { getCall } from './api.js'
import { change, current } from './state.js'

/** Loads the call that the address names. */
export async function loadCall() {
  const { query } = current()
  const [target, id] = [query.get('target') ?? '', query.get('session_id') ?? '']
  const name = `${target}|${id}`
  const before = current().callPage
  // What is shown stays while the same call is reloaded.
  change({ callPage: before.name === name ? before : { name, answer: undefined, problem: undefined } })
  const outcome =
    target === '' || id === ''
      ? { problem: 'The address names no call: it needs target and session_id.' }
      : await getCall(target, id).then(
          (answer) => ({ answer, problem: undefined }),
          (error) => ({ problem: `The call could not be loaded: ${error.message}.` }),
        )
  if (current().callPage.name === name) change({ callPage: { ...current().callPage, ...outcome } })
}

/**
 * Reloads the call after an event of it, if it is shown.
 *
 * @param {{ target: string, session_id: string }} event
 */
export function loadCallAfter({ target, session_id: id }) {
  const { view, callPage } = current()
  if (view === 'call' && callPage.name === `${target}|${id}`) void loadCall()
}
