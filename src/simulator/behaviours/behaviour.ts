import type { Random } from '../random.ts'
import type { Reached } from '../reached.ts'
import type { Reply } from '../reply.ts'
import type { Switches } from '../switches.ts'

/** Which page was asked for and how long pages are. */
export type Paging = { page: number; perPage: number }

/** What List Calls says about its pages. Behaviours may leave fields out. */
export type Pagination = {
  total?: number
  count?: number
  per_page?: number
  current_page?: number
  total_pages?: number
}

/** What a behaviour decides by. Random numbers come from a stream of the seed that nothing else uses. */
export type BehaviourContext = { switches: Switches; random: Random; reached: Reached }

/**
 * One way in which List Calls may differ from its reference, steered by a switch. It implements the places that it
 * touches; behaviours follow each other in the order of `behaviours.ts`.
 */
export type Behaviour = {
  /** The page as it is served. */
  paging?: (paging: Paging, context: BehaviourContext) => Paging
  /** The answer instead of a page, if there is to be another. */
  refusal?: (paging: Paging, context: BehaviourContext) => Reply | undefined
  /** How many calls of the page before come again at the beginning of this one. */
  repeated?: (paging: Paging, context: BehaviourContext) => number
  /** What is said about the pages. */
  pagination?: (pagination: Pagination, context: BehaviourContext) => Pagination
}
