import { callNotFound, callReply, type Asked } from '../../../../src/simulator/answers/answer.ts'
import { header, jsonReply, type Reply } from '../../../../src/simulator/answers/http.ts'
import type { WorldService } from '../start-world.ts'
import { reach } from '../state.ts'
import { entryBefore, takesPart } from './list-views.ts'
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
  return callReply(
    seen.map((entry) => showCall(service, entry, 'get')),
    switches,
  )
}
