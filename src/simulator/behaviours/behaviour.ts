import type { Call } from '../call.ts'
import type { Random } from '../random.ts'
import type { Switches } from '../switches.ts'

/** Which page was asked for and how long pages are. */
export type Paging = { page: number; perPage: number }

/** List Calls' body. Behaviours may leave fields out. */
export type Envelope = {
  data: unknown[]
  meta: {
    pagination: {
      total?: number
      count?: number
      per_page?: number
      current_page?: number
      total_pages?: number
    }
  }
}

/** What a behaviour decides by. Random numbers come from a stream of the seed that nothing else uses. */
export type BehaviourContext = { switches: Switches; random: Random }

/**
 * One way in which the service may differ from its reference, steered by a switch. It implements the places that it
 * touches; behaviours follow each other in the order of `behaviours.ts`.
 */
export type Behaviour = {
  /** All calls of an answer, oldest first as they come, in the order in which they are cut into pages. */
  order?: (calls: readonly Call[], context: BehaviourContext) => readonly Call[]
  /** The page as it is served. */
  paging?: (paging: Paging, context: BehaviourContext) => Paging
  /** List Calls' body. */
  envelope?: (envelope: Envelope, context: BehaviourContext) => Envelope
  /** Get Call's body. */
  single?: (body: unknown, call: Call, context: BehaviourContext) => unknown
}
