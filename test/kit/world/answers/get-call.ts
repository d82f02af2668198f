import { callNotFound, callReply, type Asked } from '../../../../src/simulator/answers/answer.ts'
import { takesPart } from '../../../../src/simulator/calls/call.ts'
import { header, jsonReply, type Reply } from '../../../../src/simulator/answers/http.ts'
import type { WorldService } from '../start-world.ts'
import { withPrefix } from '../../../../src/simulator/calls/session-id.ts'
import { reach } from '../state.ts'
import { entryBefore } from './list-views.ts'
import { showCall } from './show-call.ts'

export function getCall(service: WorldService, { id, request, at }: Asked): Reply {
  const { world, state, switches } = service
  const onBehalfOf = header(request, 'onbehalfof')
  const known = world.entries.get(id) ?? []
  const then = (at - switches.getCallLag) * 1000
  const before = switches.getCallLag > 0 ? known.flatMap((entry) => entryBefore(state, entry, then) ?? []) : known
  if (before.some((entry, index) => entry !== known[index]) || before.length < known.length) reach(state, 'get.lagging')
  const seen = before.filter(({ call }) => onBehalfOf === undefined || takesPart(call, onBehalfOf))
  if (seen.length === 0) {
    if (switches.unknownCall === 'not_found') return callNotFound
    reach(state, 'get.empty_list')
    return jsonReply(200, '{"data":[]}')
  }
  if (seen.length > 1) reach(state, 'get.several')
  reach(state, `get.form_${switches.getCall}`)
  reach(state, `get.ids_${switches.getCallIds}`)
  const shown = seen.map((entry) => showCall(service, entry, 'get'))
  return callReply(switches.getCallIds === 'prefixed' ? shown.map(prefixed) : shown, switches)
}

/** @param call as JSON */
const prefixed = (call: string) =>
  call.replace(/(?<="sessionId":)"(?:[^"\\]|\\.)*"/, (id) => JSON.stringify(withPrefix(String(JSON.parse(id)))))
