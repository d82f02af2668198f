/**
 * What the service shows. A call's beginning follows from its number, its course from its number and the time, so that
 * nothing need be kept: a million calls cost what is asked for of them. Times are UNIX seconds.
 */
export type World = {
  /** How many calls the list holds at any moment: for each new one the oldest leaves it. */
  calls: number
  /** When call 0 begins, and the seconds from there to call 1, and so on. */
  epoch: number
  pace: number
  /** The same for calls before call 0, which have negative numbers. */
  olderPace: number
  /** By how much later the calls of each app begin than those of the one before (seconds); default: 0. */
  apart?: number
  /** No call begins after that. */
  lastBegin?: number
  /** All calls are answered and end at that moment, in place of each after its own time. */
  allEnd?: number
}

/** Sums to 1. The rest of what the service documents happens too: 30 % video, 15 % groups, 5 % no mere calls. */
const OUTCOMES = { ended: 0.8, unanswered: 0.12, rejected: 0.04, canceled: 0.04 }
/** Seconds until a call is unanswered, rejected, canceled. */
const RINGING = { unanswered: 45, rejected: 8, canceled: 15 }
/** Seconds of talk on average; exponential, as in Erlang's formula. With 20 calls in 15 s, some 200 are open. */
const MEAN_TALK = 170
const APP = 'v1.us.208136f5ba34a5a2'

/** The world of an app by its number. */
export function worldOfApp(world: World, app: number): World {
  return { ...world, epoch: world.epoch + app * (world.apart ?? 0) }
}

/** The number of the newest call. */
export function newestCall({ epoch, pace, lastBegin = Infinity }: World, now: number): number {
  return Math.floor((Math.min(now, lastBegin) - epoch) / pace)
}

/** The call of a session; undefined where there is none. */
export function callOfSession(world: World, sessionId: string, now: number): number | undefined {
  const began = Number(sessionId.slice(APP.length + 1)) / 1e6
  const n = Math.round((began - world.epoch) / (began < world.epoch ? world.olderPace : world.pace))
  return sessionOf(world, n) === sessionId && n <= newestCall(world, now) ? n : undefined
}

/** A call as List Calls shows it, in the shape of the published sample: two participants. */
export function callAt(world: World, n: number, now: number): object {
  const initiatedAt = Math.floor(beganAt(world, n))
  const { outcome, ringing, talk } = courseOf(world, n)
  const started = outcome === 'ended' ? initiatedAt + ringing : undefined
  const end = started === undefined ? initiatedAt + ringing : started + talk
  const startedAt = started !== undefined && started <= now ? started : undefined
  const isOver = end <= now
  const isVideo = draw(n, 1) < 0.3
  const minutesFrom = (from: number) => Math.round((Math.max(0, Math.min(now, end) - from) / 60) * 1e4) / 1e4
  const minutes = startedAt === undefined ? 0 : minutesFrom(startedAt)
  const byMedium = (sum: number) => ({ totalAudioMinutes: isVideo ? 0 : sum, totalVideoMinutes: isVideo ? sum : 0 })
  const [caller, called] = [userOf(n, 2), userOf(n, 3)]
  const participant = (uid: string, salt: number, joinedAt: number | undefined) => {
    if (joinedAt === undefined) {
      return { uid, ...byMedium(0), totalDuration: 0, isJoined: false, state: isOver ? 'unanswered' : 'ongoing' }
    }
    const own = minutesFrom(joinedAt)
    const here = { uid, ...byMedium(own), totalDuration: own, deviceId: uuidOf(n, salt), isJoined: true, joinedAt }
    return isOver ? { ...here, leftAt: end, state: 'ended' } : { ...here, state: 'ongoing' }
  }
  return {
    sessionId: sessionOf(world, n),
    ...byMedium(minutes),
    totalDuration: clockText(startedAt === undefined ? 0 : Math.min(now, end) - startedAt),
    totalDurationInMinutes: minutes,
    totalParticipants: 2,
    hasRecording: false,
    hasTranscription: false,
    mid: uuidOf(n, 4),
    type: isVideo ? 'video' : 'audio',
    mode: draw(n, 5) < 0.95 ? 'call' : draw(n, 6) < 0.8 ? 'meet' : 'presenter',
    receiverType: draw(n, 7) < 0.85 ? 'user' : 'group',
    status: isOver ? outcome : startedAt === undefined ? 'initiated' : 'ongoing',
    initiator: caller,
    receiver: called,
    initiatedAt,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(isOver ? { endedAt: end } : {}),
    tags: [],
    metaData: [],
    participants: [
      participant(caller, 8, startedAt),
      participant(called, 9, startedAt === undefined ? undefined : startedAt + 1),
    ],
  }
}

function beganAt({ epoch, pace, olderPace }: World, n: number): number {
  return epoch + n * (n < 0 ? olderPace : pace)
}

/** Microseconds in it, as in the published sample, so that ids rise with time. */
function sessionOf(world: World, n: number): string {
  return `${APP}.${Math.floor(beganAt(world, n) * 1e6)}`
}

/** How a call goes, in whole seconds. */
function courseOf(world: World, n: number): { outcome: keyof typeof OUTCOMES; ringing: number; talk: number } {
  const ringing = 4 + Math.floor(draw(n, 10) * 12)
  if (world.allEnd !== undefined) {
    return { outcome: 'ended', ringing, talk: world.allEnd - Math.floor(beganAt(world, n)) - ringing }
  }
  let rest = draw(n, 11)
  for (const outcome of ['unanswered', 'rejected', 'canceled'] as const) {
    rest -= OUTCOMES[outcome]
    if (rest < 0) return { outcome, ringing: RINGING[outcome], talk: 0 }
  }
  return { outcome: 'ended', ringing, talk: 1 + Math.floor(-Math.log(1 - draw(n, 12)) * MEAN_TALK) }
}

/** Evenly from 0 to 1, always the same for one call and purpose (the finalizer of MurmurHash3). */
function draw(n: number, purpose: number): number {
  return mixed(n, purpose) / 2 ** 32
}

function mixed(n: number, purpose: number): number {
  let h = Math.imul(n ^ Math.imul(purpose, 0x9e3779b1), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  return (h ^ (h >>> 15)) >>> 0
}

function userOf(n: number, purpose: number): string {
  return `cometchat-uid-${Math.floor(draw(n, purpose) * 5000)}`
}

function uuidOf(n: number, purpose: number): string {
  const hex = [0, 1, 2, 3]
    .map((part) =>
      mixed(n, purpose + 100 * part + 100)
        .toString(16)
        .padStart(8, '0'),
    )
    .join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

function clockText(seconds: number): string {
  const total = Math.floor(seconds)
  const parts = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}
