import { chance } from '../draw.ts'
import { reach } from '../reached.ts'
import type { Behaviour } from './behaviour.ts'

/** The size of a page for who asks for none. */
export const DEFAULT_PER_PAGE = 50

/** Switch `perPage`: the size asked for, never more than so many, half of it now and then, or always the default. */
export const pageSize: Behaviour = {
  paging: ({ page, perPage }, { switches, random, reached }) => {
    if (switches.perPage === 'honoured') return { page, perPage }
    const most =
      switches.perPage === 'varying' ? (chance(random, 1 / 3) ? Math.ceil(perPage / 2) : perPage) : switches.perPage
    const served = most === 'ignored' ? DEFAULT_PER_PAGE : Math.min(perPage, most)
    if (served !== perPage) reach(reached, 'list.other_page_size')
    return { page, perPage: served }
  },
}
