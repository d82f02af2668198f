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
