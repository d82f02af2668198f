import type { SeenCall } from './call.ts'
import type { InvalidReason } from './series.ts'
import type { KnownList } from './known-list.ts'
import type { TrackedCall } from './tracked-call.ts'

/** A call as an answer showed it, or its tracked value if the answer showed nothing new. */
export type ListedCall = SeenCall | TrackedCall

/** The content of one answer of the service. */
export type ServiceAnswer = {
  source: 'list' | 'get'
  /** The service's clock when it answered (UNIX seconds). The host's clock if the answer has no time. */
  serviceTime: number
  /** The host's clock when the service answered (UNIX seconds). */
  hostTime: number
  calls: ListedCall[]
  /** Requested calls that the service does not know. */
  notFound: string[]
  /** Items of a list that were unusable, by reason. */
  invalid: Partial<Record<InvalidReason, number>>
}

/** The result of a successful poll, one that saw every new call. */
export type PollSuccess = {
  /** Whether a sweep ended with it, which has seen what the service showed back to the horizon. */
  endsSweep: boolean
  /** When it began and ended, by the service's clock and by the host's clock (UNIX seconds). */
  beganServiceTime: number
  beganHostTime: number
  serviceTime: number
  hostTime: number
  /** The ids that were listed with a usable status. */
  listed: ReadonlySet<string>
  /** Whether that sweep is confirmed (polling/list/confirmed.ts). Only such sweeps move the horizon. */
  isConfirmed?: boolean
  /** Open calls that such a sweep has not shown, and of whose session Get Call shows others alone. */
  replaced?: readonly string[]
  /** The list as the next poll needs it. */
  list: KnownList
  /** Whether the service refused deeper pages. */
  limited?: boolean
}

/** A part of a poll: some answers. The last part of a successful poll has its result. */
export type Observation = {
  answers: ServiceAnswer[]
  /**
   * By how much the service's clock is ahead of the host's (seconds), once several answers agree. Until then the first answer
   * decides.
   */
  clockSkew?: number | undefined
  /** When this process opened the target, by the host's clock as it is set now (UNIX seconds); default: when the target was created. */
  opened?: number
  success?: PollSuccess
}
