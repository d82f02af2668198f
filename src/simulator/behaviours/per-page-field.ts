import type { Behaviour } from './behaviour.ts'

/** Switch `perPageField`: how long pages are is said or, as in the published sample, not. */
export const perPageField: Behaviour = {
  pagination: (pagination, { switches }) => {
    if (switches.perPageField === 'given') return pagination
    const { per_page: _size, ...rest } = pagination
    return rest
  },
}
