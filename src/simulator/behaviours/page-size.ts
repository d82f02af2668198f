import { reach } from '../reached.ts'
import type { Behaviour } from './behaviour.ts'

/** The size of a page for who asks for none. */
export const DEFAULT_PER_PAGE = 50

/** Switch `perPage`: the size asked for, never more than so many, or always the default. */
export const pageSize: Behaviour = {
  paging: ({ page, perPage }, { switches, reached }) => {
    if (switches.perPage === 'honoured') return { page, perPage }
    const served = switches.perPage === 'ignored' ? DEFAULT_PER_PAGE : Math.min(perPage, switches.perPage)
    if (served !== perPage) reach(reached, 'list.other_page_size')
    return { page, perPage: served }
  },
}
