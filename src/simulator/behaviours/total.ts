import type { Behaviour } from './behaviour.ts'

/** Switch `total`: the number of all calls, and that of pages with it, is given or not. */
export const total: Behaviour = {
  pagination: (pagination, { switches }) => {
    if (switches.total === 'given') return pagination
    const { total: _calls, total_pages: _pages, ...rest } = pagination
    return rest
  },
}
