import { join } from 'node:path'
import { pino } from 'pino'
import { Subject } from 'rxjs'
import { expect, test } from 'vitest'
import { updateRollups } from '../../../src/history/rollups.ts'
import { countWindow, EXPORTED_WINDOWS, FAILURES } from '../../../src/ledger/failure-ratio.ts'
import { connect } from '../../../src/pipeline/connection.ts'
import { hintQueue } from '../../../src/pipeline/hint-queue.ts'
import { pipeline } from '../../../src/pipeline/pipeline.ts'
import { openTarget, type Target } from '../../../src/pipeline/target.ts'
import { createService } from '../../../src/simulator/answers/service.ts'
import { advance } from '../../../src/simulator/calls/world.ts'
import { between, random, whole } from '../../../src/simulator/random.ts'
import { openReader } from '../../../src/store/open-store.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { usageOf } from '../../kit/history/as-shown.ts'
import { CREATED } from '../../kit/ledger/seen.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { simulatedTransport } from '../simulation/simulated-transport.ts'

const HOUR = 3600
const DAY = 24 * HOUR
const INTERVAL = 30
const MIDNIGHT = Math.ceil(CREATED / DAY) * DAY
/** When the target is set up. */
const START = MIDNIGHT - 4 * HOUR

/**
 * When a call finished, as closely as its row says, and when its end is known at the latest: calls that have lasted for long are not
 * requested in each poll. UNIX seconds.
 */
type Truth = { status: string; earliest: number; latest: number; knownBy: number }

/**
 * A service whose calls follow one another for hours, with days of calls before, and a daemon that polls it, which the seed interrupts:
 * an outage in the night of two hours, shorter ones, and restarts.
 */
function followed(seed: number, failedEnds: 'absent' | 'given') {
  const draw = random(seed, 'finish times')
  const clock = virtualClock(START)
  const rate = {
    callsPerMinute: between(draw, 1, 4),
    answerProbability: between(draw, 0.4, 0.95),
    speed: 1,
    open: whole(draw, 0, 5),
  }
  const service = createService(
    { ...rate, seed, history: 700, historySeconds: 2 * DAY, switches: { failedEnds, order: 'newest' } },
    START,
  )
  const path = join(temporaryFolder(), 'store.db')
  const store = openSqliteStore({ path })
  const settings = {
    target: targetConfig({ apiKey: 'simulator-full-access' }),
    poll: pollConfig({ interval: INTERVAL, baseline: 'count', lookback: 3 * DAY, pageSize: 100 }),
    rules: [],
  }
  let target: Target
  let stop = () => undefined as void
  async function restart() {
    stop()
    target = await openTarget({ settings, store, clock })
    const client = connect(settings, () => target, {
      ownership: { owns: () => true },
      clock,
      log: pino({ level: 'silent' }),
      transportTo: () => simulatedTransport(service, clock, draw),
    })
    const [draining$, aborted$] = [new Subject<void>(), new Subject<void>()]
    const options = { target, client, hints: hintQueue(clock, {}), random: draw, offset: 1, draining$, aborted$ }
    const running = pipeline({ ...options, mask: (text) => text }).subscribe()
    stop = () => running.unsubscribe()
  }
  async function pass(seconds: number, isAway = false) {
    service.switches = { ...service.switches, outage: isAway }
    const end = clock.wall() + seconds
    while (clock.wall() < end) {
      await clock.advance(Math.min(INTERVAL, end - clock.wall()))
      advance(service.world, clock.wall(), service.switches)
    }
  }

  /** Every call that has ended. */
  const truths = (): Truth[] =>
    service.world.ledger.flatMap(({ event, status, at, initiatedAt, endedAt }) => {
      if (!['ended', ...FAILURES].includes(event)) return []
      const latest = endedAt ?? at
      const knownBy = latest + INTERVAL + (latest - initiatedAt!) / 20
      return [{ status, earliest: endedAt ?? initiatedAt!, latest, knownBy }]
    })

  /** The counts of a period that are not those of the truth to the length of a ring. */
  function differing(period: string, counts: Readonly<Record<string, number>>, from: number, to: number): string[] {
    const now = target.ledger.sync.lastSuccess!
    return ['ended', ...FAILURES].flatMap((status) => {
      const all = truths().filter((truth) => truth.status === status)
      const isInside = ({ earliest, latest, knownBy }: Truth) => earliest >= from && latest < to && knownBy <= now
      const [least, most] = [
        all.filter(isInside).length,
        all.filter(({ earliest, latest }) => latest >= from && earliest < to).length,
      ]
      const counted = counts[status]!
      return counted >= least && counted <= most
        ? []
        : [`${period}: ${counted} ${status}, in truth ${least} to ${most}`]
    })
  }

  function differingWindows(): string[] {
    const { finished, sync } = target.ledger
    const now = sync.lastSuccess!
    return Object.entries(EXPORTED_WINDOWS).flatMap(([name, seconds]) => {
      const counts = countWindow(finished, seconds, { now, previousSuccess: undefined })
      return differing(`${name} until ${now}`, counts, now - seconds, now + 1)
    })
  }

  async function differingDays(): Promise<string[]> {
    let after = await updateRollups(store, clock.wall())
    while (after !== undefined) after = await updateRollups(store, clock.wall(), after)
    const reader = await openReader({ path })
    const [from, to] = [MIDNIGHT - 2 * DAY, MIDNIGHT + DAY]
    const rows = await usageOf(reader, { from, to, zone: 'UTC', by: ['day'], targets: ['a'] })
    await reader.close()
    return rows.flatMap(({ day, calls }) => {
      const from = Date.parse(`${day!}T00:00:00Z`) / 1000
      return differing(day!, calls, from, from + DAY)
    })
  }

  return {
    draw,
    clock,
    pass,
    restart,
    differingWindows,
    differingDays,
    sync: () => target.ledger.sync,
    stop: () => stop(),
  }
}

test.each(Array.from({ length: 5 }, (_none, i) => [i + 1, i % 3 === 2 ? 'given' : 'absent'] as const))(
  'at the set-up and after each outage, the windows and days are those of the truth to the length of a ring (seed %i, endedAt of failed calls %s)',
  async (seed, failedEnds) => {
    const { draw, clock, pass, restart, differingWindows, differingDays, sync, stop } = followed(seed, failedEnds)
    const compare = async () => {
      await pass(2 * INTERVAL + between(draw, 0, INTERVAL))
      expect(clock.wall() - sync().lastSuccess!).toBeLessThan(2 * INTERVAL)
      expect(differingWindows()).toEqual([])
    }
    await restart()
    await compare()
    while (clock.wall() < MIDNIGHT - HOUR) {
      await pass(between(draw, 300, 4000))
      if (draw() < 0.5) await restart()
      await pass(between(draw, 30, 1500), draw() < 0.7)
      await compare()
    }
    await pass(MIDNIGHT - HOUR - clock.wall() + between(draw, 0, 600))
    await pass(2 * HOUR, true)
    if (seed % 2 === 0) await restart()
    await compare()
    expect(await differingDays()).toEqual([])
    stop()
  },
)
