import { reach } from '../reached.ts'
import { errorReply } from '../reply.ts'
import type { Behaviour } from './behaviour.ts'

/** Switch `deepestPage`: any page, or a refusal of those after it, as other services of this kind do. */
export const deepestPage: Behaviour = {
  refusal: ({ page, perPage }, { switches, reached }) => {
    if (switches.deepestPage === 'any' || page <= switches.deepestPage) return undefined
    reach(reached, 'list.page_refused')
    const most = switches.deepestPage * perPage
    return errorReply(400, 'ERR_PAGE_TOO_DEEP', `page ${page} exceeds the allowed maximum of ${most} records`)
  },
}
