import { addressOf } from './address.js'
import { addSilence, deleteSilence, editSilence } from './api.js'
import { serverTime } from './server-time.js'
import { editedIn, setSilencing, silenceRequest } from './silences.js'
import { refresh } from './snapshots.js'
import { current } from './state.js'
import { showAddress } from './views.js'

/** Adds or edits the silence of the address. */
export async function saveSilence() {
  const { query } = current()
  const id = editedIn(query)
  await send(async () => {
    const body = silenceRequest(query, serverTime())
    const silence = id === '' ? await addSilence(body) : await editSilence(id, body)
    return `Silence ${silence.id} was ${id === '' ? 'added' : 'edited'}.`
  }, true)
}

/** @param {number} id */
export async function expireSilence(id) {
  await send(
    async () => {
      await deleteSilence(id)
      return `Silence ${id} expired.`
    },
    editedIn(current().query) === `${id}`,
  )
}

/**
 * One change at a time.
 *
 * @param {() => Promise<string>} work resolves with what was done
 * @param {boolean} isOfForm whether the form has nothing more to say then
 */
async function send(work, isOfForm) {
  if (current().silencing.isSending) return
  setSilencing({ isSending: true, problem: undefined, done: '' })
  try {
    const done = await work()
    if (isOfForm) {
      history.replaceState(undefined, '', addressOf('silences'))
      showAddress()
    }
    setSilencing({ isSending: false, done })
  } catch (error) {
    setSilencing({ isSending: false, problem: `${error instanceof Error ? error.message : String(error)}.` })
  }
  void refresh()
}
