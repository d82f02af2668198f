import { reach } from '../reached.ts'
import { errorReply, jsonReply } from '../reply.ts'
import type { Switches } from '../switches.ts'
import type { Behaviour } from './behaviour.ts'

/**
 * Switches `deepestPage` and `deepPages`: any page, or, as other services of this kind do, none after the deepest one: a
 * refusal, no answer at all, a page without calls (`empty`, which list-calls.ts makes), or the deepest one again.
 */
export const deepestPage: Behaviour = {
  paging: ({ page, perPage }, { switches, reached }) => {
    const { deepestPage: deepest, deepPages } = switches
    if (deepest === 'any' || page <= deepest || deepPages !== 'repeated') return { page, perPage }
    reach(reached, 'list.page_repeated')
    return { page: deepest, perPage }
  },
  refusal: ({ page, perPage }, { switches, reached }) => {
    const { deepestPage: deepest, deepPages } = switches
    if (deepest === 'any' || page <= deepest || deepPages === 'repeated' || deepPages === 'empty') return undefined
    if (deepPages === 'hang') {
      reach(reached, 'list.page_hung')
      return { ...jsonReply(200, {}), delivery: 'hang' }
    }
    reach(reached, 'list.page_refused')
    return errorReply(
      400,
      'ERR_PAGE_TOO_DEEP',
      `page ${page} exceeds the allowed maximum of ${deepest * perPage} records`,
    )
  },
}

/** Whether a page has no calls since it is too deep. */
export function isTooDeep(page: number, { deepestPage: deepest, deepPages }: Switches): boolean {
  return deepest !== 'any' && page > deepest && deepPages === 'empty'
}
