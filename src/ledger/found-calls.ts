import type { SeenCall } from './call.ts'

/** Whose calls are found: a user's or a group's, by the parameters of List Calls, or those of a session. */
export type Wanted = { uid: string } | { guid: string } | { session: string }

export type Found = {
  /** Newest first. */
  calls: readonly SeenCall[]
  /** What the service made of the filter by user or group; `none`: it was not asked for one. */
  filter: 'honoured' | 'ignored' | 'refused' | 'none'
  /** How many calls of a list without a filter do not say whose they are. They are not among the calls. */
  unclear: number
  /** Whether all calls since the asked time were read, and not only those of some pages. */
  isWhole: boolean
}

/** What is searched for; undefined unless exactly one is named. */
export function wantedOf(names: { uid?: string | undefined; guid?: string | undefined; session?: string | undefined }) {
  const given = Object.entries(names).filter(([, id]) => id !== undefined)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has one of the names
  return given.length === 1 && given[0]![1] !== '' ? (Object.fromEntries(given) as Wanted) : undefined
}
