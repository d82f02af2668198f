import { callNotFound, callReply, type Asked } from '../../../src/simulator/answers/answer.ts'
import { header, type Reply } from '../../../src/simulator/answers/http.ts'
import type { WorldService } from '../start-world.ts'
import { reach } from '../state.ts'
import { entryBefore, takesPart } from './list-views.ts'
import { drawShift, showCall } from './show-call.ts'

export function getCall(service: WorldService, { id, request, at }: Asked): Reply {
  const { world, state, switches } = service
  const onBehalfOf = header(request, 'onbehalfof')
  const known = world.entries.get(id)
  const isLate = known !== undefined && switches.getCallLag > 0
  const entry = isLate ? entryBefore(state, known, (at - switches.getCallLag) * 1000) : known
  if (entry !== known) reach(state, 'get.lagging')
  if (!entry || (onBehalfOf !== undefined && !takesPart(entry.call, onBehalfOf))) return callNotFound
  reach(state, `get.form_${switches.getCall}`)
  return callReply(showCall(service, entry, 'get', drawShift(service)), switches)
}
