import { DOCUMENTED_LABELS, type CallMode, type CallType, type ReceiverType } from '../../src/ledger/call.ts'
import { between, chance, exponential, logNormal, weighted } from '../../src/simulator/random.ts'
import { random, type Random } from '../../src/simulator/random.ts'
import { FAILURES, isIn, LASTS, SILENT, STUCK } from './episodes.ts'

/** A call; times are seconds since the start of the history. */
export type SeededCall = {
  id: string
  type: CallType
  mode: CallMode
  receiverType: ReceiverType
  initiatedAt: number
  startedAt: number | undefined
  endedAt: number
  status: 'ended' | 'unanswered' | 'rejected' | 'canceled'
  /** When the service first shows the final status. */
  shownFinished: number
}

/** Calls per hour, about 5,000 a day: too few for an evaluation at night, and just about enough in the evening. */
const HOURLY = [
  40, 40, 40, 40, 40, 60, 120, 240, 320, 360, 360, 360, 340, 340, 360, 360, 340, 320, 260, 140, 90, 80, 60, 40,
]
const BUSIEST = Math.max(...HOURLY)
const USUAL_FAILURES = 0.1
/** The share of calls whose final status the service shows late, and the longest delay (seconds). */
const LATE = { share: 0.03, max: 200 }

/** The calls of the whole history in the order of their start. The same seed makes the same calls. */
export function seededCalls(seed: number): SeededCall[] {
  const draw = random(seed, 'parity')
  const calls: SeededCall[] = []
  // Thinning (Lewis and Shedler 1979): calls arrive at the rate of the busiest hour, and a share of them is dropped.
  for (let time = 0; time < LASTS; time += exponential(draw, 3600 / BUSIEST)) {
    const hourly = HOURLY[Math.floor(time / 3600) % 24]!
    const call = seededCall(`call ${calls.length}`, time, draw)
    if (chance(draw, hourly / BUSIEST) && !isIn(SILENT, time)) calls.push(call)
  }
  const stuck = STUCK.map(({ from, to }, i): SeededCall => {
    const [labels] = DOCUMENTED_LABELS
    const times = { initiatedAt: from, startedAt: from + 5, endedAt: to, shownFinished: to }
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
  const late = chance(draw, LATE.share) ? between(draw, 0, LATE.max) : 0
  return { id, type, mode, receiverType, initiatedAt, startedAt, endedAt, status, shownFinished: endedAt + late }
}
