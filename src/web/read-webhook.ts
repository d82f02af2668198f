import { TRIGGERS, type Hint, type Trigger } from '../ledger/hint.ts'
import { parseMap, valueAt } from '../schema/path.ts'

/** The place of the call's id in session events, and in ringing events. */
const ID_PLACES = [
  ['data', 'sessionId'],
  ['data', 'call', 'data', 'entities', 'on', 'entity', 'sessionid'],
]
const MAX_ID_LENGTH = 1000

/** The trigger and the call of a webhook; undefined if the body is not a JSON object. `hint` is undefined if it names no call. */
export function readWebhook(
  body: Buffer,
): { trigger: Trigger; appId: string | undefined; hint: Hint | undefined } | undefined {
  const tree = parseMap(body.toString())
  if (tree === undefined) return undefined
  const { trigger: name, appId } = tree
  const trigger = typeof name === 'string' && isTrigger(name) ? name : 'other'
  const id = ID_PLACES.map((place) => valueAt(tree, place)).find((value) => typeof value === 'string' && value !== '')
  const isCall = typeof id === 'string' && id.length <= MAX_ID_LENGTH
  return {
    trigger,
    appId: typeof appId === 'string' ? appId : undefined,
    hint: isCall ? { id, shows: TRIGGERS[trigger] } : undefined,
  }
}

function isTrigger(name: string): name is Trigger {
  return Object.hasOwn(TRIGGERS, name)
}
