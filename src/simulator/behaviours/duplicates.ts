import { chance, whole } from '../draw.ts'
import { reach } from '../reached.ts'
import type { Behaviour } from './behaviour.ts'

const MOST = 5

/** Switch `duplicates`: now and then a page begins with up to five calls that the page before ended with. */
export const duplicates: Behaviour = {
  repeated: ({ page, perPage }, { switches, random, reached }) => {
    if (page === 1 || switches.duplicates === 0 || !chance(random, switches.duplicates)) return 0
    reach(reached, 'list.duplicates')
    return whole(random, 1, Math.min(MOST, perPage))
  },
}
