import type { SeenCall } from './call.ts'
import type { InvalidReason } from './series.ts'
import type { KnownList } from './known-list.ts'
import type { TrackedCall } from './tracked-call.ts'

/** A call as an answer of the service showed it; its tracked value where the answer said nothing new. */
export type ListedCall = SeenCall | TrackedCall

/** What one answer of the service showed. */
export type ServiceAnswer = {
  source: 'list' | 'get'
  /** The service's clock when it answered, or the host's where the answer shows none (UNIX seconds). */
  serviceTime: number
  /** The host's clock at that moment (UNIX seconds). */
  hostTime: number
  calls: ListedCall[]
  /** Ids of listed calls that began earlier than the tracked ones, and are these all the same. */
  confirmed?: ReadonlySet<string>
  /** Requested calls that the service does not know. */
  notFound: string[]
  /** Items of a list that could not be used, by reason. */
  invalid: Partial<Record<InvalidReason, number>>
}

/** The result of a successful poll: it saw every new call. */
export type PollSuccess = {
  /** It saw all that the service shows back to the horizon, also where that is limited. */
  movesHorizon: boolean
  /** When it began and ended, by the service's clock and by the host's (UNIX seconds). */
  beganServiceTime: number
  beganHostTime: number
  serviceTime: number
  hostTime: number
  /** The ids that were listed with a usable status. */
  listed: ReadonlySet<string>
  /** Invalid items were listed: any of them may be a call that was not seen. */
  hasInvalid?: boolean
  /** What the next poll depends on. */
  list: KnownList
  /** The service refused deeper pages. */
  limited?: boolean
}

/** A part of a poll: some answers. The last part has the result of a poll that succeeded. */
export type Observation = {
  answers: ServiceAnswer[]
  /** By how much the service's clock is ahead of the host's (seconds), once several answers agree; else the first answer decides. */
  clockSkew?: number | undefined
  success?: PollSuccess
}
