import { whole } from '../draw.ts'
import type { Oddity } from './oddity.ts'

/**
 * An item that cannot be used: without session id, without status, or no object. Truth: nothing is known from it; it
 * is as if the call had not been in this answer. Such items of one answer differ, but for an occasional null.
 */
export const unusable: Oddity = (wire, { random, operation }) => {
  const { sessionId: _sessionId, ...nameless } = wire
  const { status: _status, ...statusless } = wire
  const withoutStatus = [statusless, { ...wire, status: null }, { ...wire, status: '' }, { ...wire, status: 7 }]
  const withoutId = [nameless, { ...wire, sessionId: null }, { ...wire, sessionId: '' }, { ...wire, sessionId: {} }]
  const noObject = [null, `call ${String(wire['mid'])}`, whole(random, 1, 1e9), [wire]]
  const forms = operation === 'get' ? withoutStatus : [...withoutStatus, ...withoutId, ...noObject]
  return forms[whole(random, 0, forms.length - 1)]
}
