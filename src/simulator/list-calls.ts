import type { BehaviourContext, Envelope, Paging } from './behaviours/behaviour.ts'
import { behaviours } from './behaviours/behaviours.ts'
import { DEFAULT_PER_PAGE } from './behaviours/page-size.ts'
import type { Call } from './call.ts'
import { filtered } from './filters.ts'
import { errorReply, jsonReply } from './reply.ts'
import type { Reply } from './reply.ts'

const MOST_PER_PAGE = 1000

/** GET /calls. `calls`: all that the caller may see, oldest first. */
export function listCalls(calls: readonly Call[], query: URLSearchParams, context: BehaviourContext): Reply {
  const page = wholeNumber(query.get('page') ?? '1')
  const perPage = wholeNumber(query.get('perPage') ?? String(DEFAULT_PER_PAGE))
  if (!page || !perPage) {
    return errorReply(400, 'ERR_BAD_REQUEST', 'page and perPage are whole numbers of 1 or more.')
  }
  let ordered = filtered(calls, query)
  let paging: Paging = { page, perPage: Math.min(perPage, MOST_PER_PAGE) }
  for (const behaviour of behaviours) {
    ordered = behaviour.order?.(ordered, context) ?? ordered
    paging = behaviour.paging?.(paging, context) ?? paging
  }
  let envelope = envelopeOf(ordered, paging)
  for (const behaviour of behaviours) envelope = behaviour.envelope?.(envelope, context) ?? envelope
  return jsonReply(200, envelope)
}

function envelopeOf(calls: readonly Call[], { page, perPage }: Paging): Envelope {
  const data = calls.slice((page - 1) * perPage, page * perPage)
  return {
    data,
    meta: {
      pagination: {
        total: calls.length,
        count: data.length,
        per_page: perPage,
        current_page: page,
        total_pages: Math.max(1, Math.ceil(calls.length / perPage)),
      },
    },
  }
}

/** 1 or more; undefined for anything else. */
function wholeNumber(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined
}
