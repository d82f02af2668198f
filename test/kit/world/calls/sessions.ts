import { write } from '../../../../src/simulator/calls/ledger.ts'
import type { Life } from '../../../../src/simulator/calls/life.ts'
import { chance, hex, random, whole } from '../../../../src/simulator/random.ts'
import { enlist, forget, planStep, type Entry, type World } from '../../../../src/simulator/calls/world.ts'
import { besideOf, reach, type WorldState } from '../state.ts'
import type { Switches } from '../switches.ts'
import { reopened } from './reopened.ts'
import { turnedCourse, unchanged, withTurns, type TurnedLife } from './turn.ts'

/** A poller that sees a call in two answers so far apart has seen it in two polls: a commit that fails loses one of them at most. */
const TWO_POLLS_MS = 10_000
/** A further call of a session that begins so soon after the one before is in the same poll. */
const AT_ONCE_MS = 2000
/** The share of the further calls of a session that continue its call, in form C. */
const CONTINUING = 0.5
/** callwatch reads no longer ids. */
const LONGEST_ID = 500
/** What may have happened to a call that continues. */
const HARMLESS = ['reopened', 'ended_again', 'identified']

/**
 * The call in the session of one that was over before the service started, whose row leaves (switch `reusedIds`); most often
 * the call as it is.
 */
export function withReusedId(state: WorldState, world: World, life: Life, { reusedIds }: Switches): Life {
  const { startMs } = state
  if (reusedIds === 0 || life.initiatedMs <= startMs || life.sessionId !== life.callId) return life
  const stream = random(world.options.seed, 'reused id', life.callId)
  if (!chance(stream, reusedIds)) return life
  const over = world.listing.filter((entry) => {
    const beside = besideOf(state, entry)
    return !entry.course && !beside.sameAs && beside.life.endedMs < startMs - 1000
  })
  const earlier = over[whole(stream, 0, Math.max(0, over.length - 1))]
  if (!earlier) return life
  reach(state, 'list.reused_id')
  replace(state, world, earlier)
  return { ...life, sessionId: earlier.sessionId }
}

/**
 * What a further call of a session does to the calls before it (switch `listedAs`). The call as it begins; undefined if the call
 * before it continues instead.
 */
export function inSession(
  state: WorldState,
  world: World,
  life: TurnedLife,
  switches: Switches,
): TurnedLife | undefined {
  if (switches.listedAs === 'C' && isOfRoom(life.callId, life.receiver))
    return continuedOr(state, world, life, switches)
  const earlier = [...(world.entries.get(life.sessionId) ?? [])]
  if (earlier.length === 0) return life
  const { endedMs } = besideOf(state, earlier.at(-1)!).life
  reach(state, life.initiatedMs - endedMs <= AT_ONCE_MS ? 'session.again_at_once' : 'session.again')
  if (switches.listedAs === 'A') return life
  for (const entry of earlier) replace(state, world, entry)
  return { ...life, replaces: earlier.at(-1)! }
}

/** Undefined if the latest call of the room continues; otherwise the call in a session of its own. */
function continuedOr(state: WorldState, world: World, life: TurnedLife, switches: Switches): TurnedLife | undefined {
  const latest = world.listing.findLast(({ callId }) => isOfRoom(callId, life.receiver))
  const continued = latest && continuing(state, world, latest, life)
  if (!continued) return { ...life, sessionId: life.sessionId.replace(life.receiver, life.callId).slice(0, LONGEST_ID) }
  besideOf(state, latest).life = continued
  latest.course = turnedCourse(continued)
  planStep(world, latest, life.initiatedMs)
  occupyRoom(world, continued, switches)
  reach(state, 'session.continued')
  return undefined
}

const isOfRoom = (callId: string, receiver: string): boolean => callId.split('#', 1)[0] === receiver

/** The room of a call is in use until its end, whatever the call is like. */
export function occupyRoom(
  world: World,
  { receiver, callId, endedMs, turns = [] }: TurnedLife,
  switches: Switches,
): void {
  const room = world.rooms.get(receiver)
  if (room === undefined || !isOfRoom(callId, receiver)) return
  const ends = turns.filter(({ undoes }) => undoes !== undefined).map(({ ms }) => ms)
  room.freeMs = Math.max(endedMs, ...ends) + switches.sessionGap * 1000
}

/** The call with its mid as the service has it (switch `mids`). */
export function withMid(life: TurnedLife, { mids }: Pick<Switches, 'mids'>, seed: number | string): TurnedLife {
  const { startedMs, sessionId } = life
  if (mids === 'none') return { ...life, midShownMs: Infinity }
  if (mids === 'room') return { ...life, mid: hex(random(seed, 'mid of', sessionId), 32) }
  if (mids === 'given' || startedMs === undefined) return life
  const ms = startedMs + whole(random(seed, 'mid', life.callId), 20_000, 60_000)
  return withTurns({ ...life, midShownMs: ms }, { ms, name: 'identified', change: unchanged })
}

/**
 * The life of a listed call that goes on where the other one would begin; undefined where it cannot. Not of those before the start,
 * which would count whole: the fact `reopened` is for worlds in which every poller can see that.
 */
function continuing(state: WorldState, world: World, entry: Entry, { callId, initiatedMs }: Life) {
  const { life } = besideOf(state, entry)
  const stream = random(world.options.seed, 'continues', callId)
  const canContinue =
    chance(stream, CONTINUING) &&
    entry.beganMs >= state.startMs &&
    (life.turns ?? []).every(({ name }) => HARMLESS.includes(name))
  return canContinue ? reopened(life, initiatedMs, stream) : undefined
}

/** The call is listed no more, and Get Call does not know it: the next one of its session is there instead. */
function replace(state: WorldState, world: World, entry: Entry): void {
  const { listing } = world
  for (const row of listing.filter((one) => (besideOf(state, one).sameAs ?? one) === entry))
    listing.splice(listing.indexOf(row), 1)
  forget(world, entry)
  delete entry.course
  const { firstMs = 0, lastMs = 0 } = state.seen.get(entry.call) ?? {}
  write(world, lastMs - firstMs >= TWO_POLLS_MS ? 'unlisted' : 'replaced', entry)
}

/** Adds the row of a doubled call to the list once more. Get Call knows the call once. */
export function addFurtherRow(state: WorldState, world: World, entry: Entry): void {
  state.rows++
  const { course: _course, text: _text, ...row } = { ...entry, order: entry.order + 0.25 }
  state.beside.set(row, { ...besideOf(state, entry), row: state.rows, sameAs: entry })
  enlist(world, row)
}
