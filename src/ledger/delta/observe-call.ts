import { ANSWERED, CALL_COLUMNS, CALL_FIELDS, callOfNumbers, type Mutable } from '../call-fields.ts'
import { finalStatus, labelsOf, ownTime, type FinalStatus, type Labels, type SeenCall } from '../call.ts'
import type { DeltaDraft } from './delta-draft.ts'
import { MEASURES, minutesAfter, servedMinutes } from './minutes.ts'
import { callSeries, type HistogramSeries } from '../call-series.ts'
import { finishTime, showsEnd } from './finish-time.ts'
import { isSameInvited } from './invited.ts'
import { ANOMALIES, COUNTERS, seriesKey, type Anomaly } from '../series.ts'
import type { ChangedCall } from '../state.ts'
import { beganAt, hasEvents, MARK, type Finish, type TrackedCall } from '../tracked-call.ts'
import type { TransitionPoint } from './transitions.ts'

/** The most participants of a call, according to the service's documentation. */
const MAX_PARTICIPANTS = 50

/** When and how an answer was obtained, and how to count it. Times are UNIX seconds. */
export type AnswerContext = {
  serviceTime: number
  /** The host's clock when the service answered. */
  hostTime: number
  source: 'list' | 'get'
  askForDetails: boolean
  /** How precisely `retainUntil` records the last listing of a call without an own time (seconds). */
  listedPrecision: number
  /** The marks of the call if it is new. */
  marks?: number
}

/**
 * A call that is tracked but never counted, because it was final before the target was created.
 *
 * @param before the tracked call; undefined if it is new
 */
export function baselineCall(
  before: TrackedCall | undefined,
  seen: SeenCall,
  { serviceTime, listedPrecision }: AnswerContext,
): TrackedCall {
  const known = before ?? { ...withAnswer(newCall(seen, serviceTime), seen), phase: 'baseline', marks: 0 }
  const retainUntil = retentionOf(known, seen, serviceTime, listedPrecision)
  return retainUntil === known.retainUntil ? known : { ...known, retainUntil }
}

/**
 * Adds what an answer changes of a call to the draft.
 *
 * @param before the tracked call; undefined for a call that counts from now on
 * @returns the call's new value; the same object if the answer changed nothing
 */
export function observeCall(
  before: TrackedCall | undefined,
  seen: SeenCall,
  { serviceTime, hostTime, source, askForDetails, listedPrecision, marks }: AnswerContext,
  draft: DeltaDraft,
): TrackedCall {
  const known = before ?? newCall(seen, serviceTime, marks)
  const call = withAnswer(known, seen)
  countAppearance(before, call.labels, draft)
  const final = call.phase === 'final'
  const ending = known.phase === 'final' ? undefined : finalStatus(call)
  const at = finishTime(before, call, seen, serviceTime)
  const noticed = noticedAt(call, at, serviceTime)
  call.minutes = countAllMinutes(call, seen, { final, now: noticed }, draft)
  if (ending !== undefined) {
    countFinish(call, seen, ending, { at, known: noticed, knownHostTime: hostTime }, draft)
    if (askForDetails) call.marks |= MARK.detailsWanted
  } else changeFinish(call, seen, known, at, draft)
  const change = { call, participants: seen.participants, at: serviceTime }
  if (seen.hasParticipantList || source === 'get') call.marks &= ~MARK.detailsWanted
  call.marks |= wentBack(before, call)
  countTransitions(before, change, draft)
  if (final) observeOnce(call, known, seen, draft)
  countAnomalies(call, before, seen, draft)
  if (before !== undefined && hasEvents(before)) reportLater(before, change, draft)
  call.retainUntil = retentionOf(call, seen, serviceTime, listedPrecision)
  return before !== undefined && isSame(before, call) ? before : call
}

function countAppearance(before: TrackedCall | undefined, labels: Labels, draft: DeltaDraft): void {
  if (before === undefined) draft.add(callSeries(labels).started, 1)
  else if (before.phase === 'lost') draft.add(seriesKey(COUNTERS.reappeared), 1)
}

/** The call with the values of an answer. A value that the answer omits stays as it was. */
function withAnswer(known: TrackedCall, seen: SeenCall): Mutable<TrackedCall> {
  const call: Mutable<TrackedCall> = {
    ...known,
    status: seen.status,
    labels: labelsNow(known.labels, seen),
    joined: seen.joined ?? known.joined,
    notFound: 0,
    marks: known.marks | (seen.hasRecording ? MARK.recordingSeen : 0),
  }
  for (const name of ANSWERED) call[name] = seen[name] ?? known[name]
  call.phase = known.phase === 'final' || finalStatus(call) !== undefined ? 'final' : 'open'
  return call
}

/** Reports what an answer adds to a known call without changing its status: a correction, or the missing participants. */
function reportLater(before: TrackedCall, change: ChangedCall, draft: DeltaDraft): void {
  if (before.phase === 'final' && isCorrected(before, change.call)) draft.delta.corrections.push({ before, ...change })
  const areWanted = (before.marks & MARK.detailsWanted) !== 0
  if (change.participants !== undefined && areWanted) draft.delta.details.push(change)
}

/**
 * Records that the service does not know a call, or that a sweep has not shown one that was replaced. After two of these in a row an
 * open call is lost. For a final call no further details are requested.
 */
export function observeNotFound(before: TrackedCall, now: number, draft: DeltaDraft): TrackedCall {
  if ((before.marks & MARK.detailsWanted) !== 0) return { ...before, marks: before.marks & ~MARK.detailsWanted }
  if (before.phase !== 'open') return before
  if (before.notFound === 0) return { ...before, notFound: 1 }
  const lost: TrackedCall = { ...before, phase: 'lost', notFound: 0, retainUntil: now }
  draft.add(seriesKey(COUNTERS.lost), 1)
  draft.recordTransition({ call: lost, at: now }, before.status, 'lost')
  return lost
}

/** The call's labels. A label that the answer omits keeps its last value. */
export function labelsNow(known: Labels, { type, mode, receiverType }: SeenCall): Labels {
  return labelsOf(type ?? known.type, mode ?? known.mode, receiverType ?? known.receiverType)
}

/** A call of which nothing is known yet: it is open, and nothing of it is counted. */
const NEW: TrackedCall = {
  ...callOfNumbers(
    '',
    Float64Array.from(CALL_COLUMNS, (name) => (CALL_FIELDS[name][0].endsWith('?') ? NaN : 0)),
  ),
  labels: labelsOf('other', 'other', 'other'),
}
const newCall = ({ id, session }: SeenCall, firstSeen: number, marks = 0): TrackedCall => {
  return { ...NEW, id, session: session === id ? undefined : session, firstSeen, marks }
}

/** When what an answer shows of a call counts as noticed: at once or, of a call that was over at the set-up, when it finished. */
function noticedAt({ phase, marks, finish }: TrackedCall, at: number, now: number): number {
  const isOfPast = phase === 'final' && (marks & MARK.overAtSetUp) !== 0
  return isOfPast ? (finish?.known ?? at) : now
}

function countFinish(
  call: Mutable<TrackedCall>,
  seen: SeenCall,
  status: FinalStatus,
  times: Pick<Finish, 'at' | 'known' | 'knownHostTime'>,
  draft: DeltaDraft,
): void {
  draft.add(callSeries(call.labels).finished[status], 1)
  call.finish = { status, labels: call.labels, ...times, ...valuesNow(call, status), invited: seen.invited }
  if (!showsEnd(call, seen)) call.marks |= MARK.endUnknown
  draft.delta.finishes.push(call.finish)
}

/** The values that a finish has of its call, as they are now. */
export function valuesNow(call: TrackedCall, status: FinalStatus) {
  const [audio = 0, video = 0] = call.minutes
  return { began: beganAt(call), ...answeredTimes(call, status), audio, video }
}

/**
 * How long an answered call rang and lasted (seconds); undefined if a time is missing, or the times are in the wrong order.
 */
export function answeredTimes(
  { initiatedAt = NaN, startedAt = NaN, endedAt = NaN }: Pick<TrackedCall, 'initiatedAt' | 'startedAt' | 'endedAt'>,
  status: FinalStatus,
): Pick<Finish, 'answerDelay' | 'duration'> {
  const between = (from: number, to: number) => (status === 'ended' && to >= from ? to - from : undefined)
  return { answerDelay: between(initiatedAt, startedAt), duration: between(startedAt, endedAt) }
}

/** The user minutes of a call: its duration × who joined, as the vendor publishes it; 0 unless it ended and both are known. */
export function userMinutesOf(call: TrackedCall | undefined): number {
  if (call?.finish === undefined) return 0
  const { duration = 0 } = answeredTimes(call, call.finish.status)
  return (duration / 60) * (call.totalParticipants ?? 0)
}

/**
 * The first answer that shows when a finished call ended moves its finish there. Each answer that shows it as final, and who was invited,
 * replaces what was known of that.
 */
function changeFinish(
  call: Mutable<TrackedCall>,
  seen: SeenCall,
  { finish, marks }: TrackedCall,
  at: number,
  draft: DeltaDraft,
): void {
  if (finish === undefined) return
  const isMoved = (marks & MARK.endUnknown) !== 0 && showsEnd(call, seen)
  const invited = (finalStatus(seen) === undefined ? undefined : seen.invited) ?? finish.invited
  if (!isMoved && isSameInvited(invited, finish.invited)) return
  if (isMoved) call.marks &= ~MARK.endUnknown
  call.finish = { ...finish, ...(isMoved && { at }), invited }
  const isRecorded = (marks & MARK.recordingSeen) !== 0
  draft.delta.changedFinishes.push({ before: { ...finish, isRecorded }, after: { ...call.finish, isRecorded } })
}

function countTransitions(before: TrackedCall | undefined, change: ChangedCall, draft: DeltaDraft): void {
  const { call } = change
  const from: TransitionPoint = before === undefined ? 'none' : before.phase === 'lost' ? 'lost' : before.status
  // A call with an undocumented status ends when `endedAt` appears.
  if (from === call.status && from === 'other' && before?.phase === 'open' && call.phase === 'final') {
    draft.end(change)
  }
  if (from === call.status) return
  // A change after the end is a correction.
  if (before?.phase === 'final') draft.path(call, from, call.status)
  else draft.recordTransition(change, from, call.status)
}

/** The mark of a call whose status does not follow the one before. */
function wentBack(before: TrackedCall | undefined, { phase, status }: TrackedCall): number {
  if (before === undefined || status === before.status || phase === 'final') return 0
  return before.status === 'initiated' && status === 'ongoing' ? 0 : MARK.wentBack
}

/**
 * Whether the service changed its answer about a call after its end. Participants and their minutes may become known later,
 * so they do not count.
 */
function isCorrected(before: TrackedCall, call: TrackedCall): boolean {
  return call.status !== before.status || [0, 1].some((medium) => call.minutes[medium] !== before.minutes[medium])
}

function countAllMinutes(
  call: TrackedCall,
  seen: SeenCall,
  { final, now }: { final: boolean; now: number },
  draft: DeltaDraft,
): readonly number[] {
  const served = servedMinutes(seen, call.labels.type, final)
  const { minutes } = callSeries(call.labels)
  const counted = call.minutes.map((before, i) => minutesAfter(before, served[i], final))
  if (counted.every((after, i) => after === call.minutes[i])) return call.minutes
  for (const [i, { level, media }] of MEASURES.entries()) {
    const change = counted[i]! - call.minutes[i]!
    if (change > 0) draft.add(minutes[level][media], change)
    if (change < 0) draft.add(seriesKey(COUNTERS.corrections, media, level), -change)
    if (change !== 0 && level === 'participant') draft.use(change, now)
  }
  return counted
}

/**
 * Counts the histograms and the recording of a finished call once, each as soon as it is known. The number of participants
 * comes from an answer that shows the call as final, because more may join while the call lasts.
 */
function observeOnce(call: Mutable<TrackedCall>, known: TrackedCall, seen: SeenCall, draft: DeltaDraft): void {
  const { labels, status } = call.finish!
  const series = callSeries(labels)
  const once = (mark: number, histogram: HistogramSeries, value: number | undefined): void => {
    if (value === undefined || (call.marks & mark) !== 0) return
    call.marks |= mark
    draft.observe(histogram, value)
  }
  const { answerDelay, duration } = answeredTimes(call, status)
  once(MARK.durationObserved, series.duration, duration)
  once(MARK.answerDelayObserved, series.answerDelay, answerDelay)
  once(MARK.participantsObserved, series.participants, seen.totalParticipants)
  const wasCounted = known.phase === 'final' && (known.marks & MARK.recordingSeen) !== 0
  if ((call.marks & MARK.recordingSeen) === 0 || wasCounted) return
  draft.add(seriesKey(COUNTERS.recorded), 1)
  const { finish } = call
  draft.delta.changedFinishes.push({
    before: { ...finish!, isRecorded: false },
    after: { ...finish!, isRecorded: true },
  })
}

function countAnomalies(
  call: Mutable<TrackedCall>,
  before: TrackedCall | undefined,
  seen: SeenCall,
  draft: DeltaDraft,
): void {
  const present: Record<Anomaly, boolean> = {
    final_changed: before?.phase === 'final' && before.status !== seen.status,
    unknown_status: seen.status === 'other',
    labels_changed: before !== undefined && before.labels !== call.labels,
    bad_value: seen.badValue,
    time_reversed: areReversed(call),
    too_many_participants: (call.totalParticipants ?? 0) > MAX_PARTICIPANTS,
  }
  for (const kind of ANOMALIES) {
    if (!present[kind] || (call.marks & MARK[kind]) !== 0) continue
    call.marks |= MARK[kind]
    draft.add(seriesKey(COUNTERS.anomalies, kind), 1)
  }
}

/** Whether the times of a call are in the wrong order. */
function areReversed({ initiatedAt = NaN, startedAt = NaN, endedAt = NaN }: TrackedCall): boolean {
  return initiatedAt > startedAt || startedAt > endedAt || initiatedAt > endedAt
}

/**
 * The call's `retainUntil`. The last listing counts only for a call without an own time, or for a final call that is listed
 * as open again. It is recorded with low precision, which saves a write in each poll.
 */
function retentionOf(call: TrackedCall, seen: SeenCall, now: number, precision: number): number | undefined {
  const { retainUntil } = call
  const { ahead } = seen
  if (ahead !== undefined) return Math.max(ahead, retainUntil ?? 0)
  if (retainUntil !== undefined && retainUntil > now) return retainUntil
  if (call.phase === 'open' || (ownTime(call) !== undefined && finalStatus(seen) !== undefined)) return undefined
  return retainUntil !== undefined && now - retainUntil < precision ? retainUntil : now
}

function isSame(a: TrackedCall, b: TrackedCall): boolean {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are its keys
  return (Object.keys(a) as (keyof TrackedCall)[]).every((name) => a[name] === b[name])
}
