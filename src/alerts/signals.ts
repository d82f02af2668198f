import type { ConfiguredAs } from './signal.ts'
import { answerDelayP95 } from './signals/answer-delay-p95.ts'
import { budgetMinutes } from './signals/budget-minutes.ts'
import { callsFinished } from './signals/calls-finished.ts'
import { callsStarted } from './signals/calls-started.ts'
import { durationMean } from './signals/duration-mean.ts'
import { failureRatio } from './signals/failure-ratio.ts'
import { inProgress } from './signals/in-progress.ts'
import { minutes } from './signals/minutes.ts'
import { notJoined } from './signals/not-joined.ts'
import { pollAge } from './signals/poll-age.ts'
import { recorded } from './signals/recorded.ts'
import { requestErrors } from './signals/request-errors.ts'
import { shortCalls } from './signals/short-calls.ts'
import { stuckCalls } from './signals/stuck-calls.ts'

/** All signals, in the order of the documentation. To add one, create a file in signals/ and add a line here. */
export const signals = [
  failureRatio,
  callsFinished,
  callsStarted,
  minutes,
  inProgress,
  answerDelayP95,
  durationMean,
  shortCalls,
  recorded,
  notJoined,
  stuckCalls,
  pollAge,
  requestErrors,
  budgetMinutes,
] as const

/** A signal in rules, the store and notifications: its name and its own keys. */
export type Signal = ConfiguredAs<(typeof signals)[number]>
