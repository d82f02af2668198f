import type { Behaviour } from './behaviour.ts'

/** The size of a page for who asks for none. */
export const DEFAULT_PER_PAGE = 50

/** Switch `perPage`: the size asked for, never more than so many, or always the default. */
export const pageSize: Behaviour = {
  paging: ({ page, perPage }, { switches }) => {
    if (switches.perPage === 'honoured') return { page, perPage }
    return { page, perPage: switches.perPage === 'ignored' ? DEFAULT_PER_PAGE : Math.min(perPage, switches.perPage) }
  },
}
