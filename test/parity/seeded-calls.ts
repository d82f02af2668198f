import { DOCUMENTED_LABELS, type CallMode, type CallType, type ReceiverType } from '../../src/ledger/call.ts'
import { between, chance, exponential, logNormal, weighted } from '../../src/simulator/draw.ts'
import { random, type Random } from '../../src/simulator/random.ts'
import { FAILURES, isIn, LASTS, SILENT, STUCK } from './episodes.ts'

/** What happens to a call; times are seconds since the history began. */
export type SeededCall = {
  id: string
  type: CallType
  mode: CallMode
  receiverType: ReceiverType
  initiatedAt: number
  startedAt: number | undefined
  endedAt: number
  status: 'ended' | 'unanswered' | 'rejected' | 'canceled'
  /** From when on the service shows how it ended. */
  shownOver: number
}

/** Calls an hour, about 5,000 a day: at night too few for a verdict, in the evening about as many as it takes. */
const HOURLY = [
  40, 40, 40, 40, 40, 60, 120, 240, 320, 360, 360, 360, 340, 340, 360, 360, 340, 320, 260, 140, 90, 80, 60, 40,
]
const MOST = Math.max(...HOURLY)
const USUAL_FAILURES = 0.1
/** Of some calls the service tells late that they are over, by as many seconds at most. */
const LATE = { share: 0.03, most: 200 }

/** The calls of the whole history, the first to begin first. One seed makes the same calls. */
export function seededCalls(seed: number): SeededCall[] {
  const draw = random(seed, 'parity')
  const calls: SeededCall[] = []
  // Thinning (Lewis and Shedler 1979): calls arrive as often as at the busiest hour, and some are left out.
  for (let time = 0; time < LASTS; time += exponential(draw, 3600 / MOST)) {
    const hourly = HOURLY[Math.floor(time / 3600) % 24]!
    const call = seededCall(`call ${calls.length}`, time, draw)
    if (chance(draw, hourly / MOST) && !isIn(SILENT, time)) calls.push(call)
  }
  const stuck = STUCK.map(({ from, to }, i): SeededCall => {
    const [labels] = DOCUMENTED_LABELS
    const times = { initiatedAt: from, startedAt: from + 5, endedAt: to, shownOver: to }
    return { id: `stuck ${i}`, ...labels!, ...times, status: 'ended' }
  })
  return [...calls, ...stuck].toSorted((a, b) => a.initiatedAt - b.initiatedAt)
}

function seededCall(id: string, initiatedAt: number, draw: Random): SeededCall {
  const mode = weighted(draw, [
    ['call', 0.85],
    ['meet', 0.12],
    ['presenter', 0.03],
  ] as const)
  const type = chance(draw, 0.6) ? 'audio' : 'video'
  const receiverType = chance(draw, 0.8) ? 'user' : 'group'
  const { share } = FAILURES.find((period) => isIn([period], initiatedAt)) ?? { share: USUAL_FAILURES }
  const fails = mode === 'call' && chance(draw, share)
  const status = fails
    ? weighted(draw, [
        ['unanswered', 0.5],
        ['rejected', 0.3],
        ['canceled', 0.2],
      ] as const)
    : 'ended'
  const rings = between(draw, 2, status === 'unanswered' ? 45 : 20)
  const startedAt = fails ? undefined : initiatedAt + (mode === 'call' ? rings : 0)
  const endedAt = startedAt === undefined ? initiatedAt + rings : startedAt + Math.min(7200, logNormal(draw, 120, 1))
  const late = chance(draw, LATE.share) ? between(draw, 0, LATE.most) : 0
  return { id, type, mode, receiverType, initiatedAt, startedAt, endedAt, status, shownOver: endedAt + late }
}
