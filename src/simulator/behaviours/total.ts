import type { Behaviour } from './behaviour.ts'

/** Switch `total`: the number of all calls, and that of pages with it, is given or not. */
export const total: Behaviour = {
  envelope: (envelope, { switches }) => {
    if (switches.total === 'given') return envelope
    const { total: _calls, total_pages: _pages, ...pagination } = envelope.meta.pagination
    return { ...envelope, meta: { pagination } }
  },
}
