import { join } from 'node:path'
import { pino } from 'pino'
import { Subject } from 'rxjs'
import { expect, test } from 'vitest'
import type { Notification } from '../../../src/alerts/notification.ts'
import { replay } from '../../../src/alerts/replay.ts'
import { ruleSchema } from '../../../src/alerts/rule.ts'
import { exportedSeries } from '../../../src/commands/demo/compare-with-simulator.ts'
import { connect } from '../../../src/pipeline/connection.ts'
import { hintQueue } from '../../../src/pipeline/hint-queue.ts'
import { pipeline } from '../../../src/pipeline/pipeline.ts'
import { openTarget, type Target } from '../../../src/pipeline/target.ts'
import { advance } from '../../../src/simulator/calls/world.ts'
import { random } from '../../../src/simulator/random.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { openReader } from '../../../src/store/open-store.ts'
import { CREATED } from '../../kit/ledger/seen.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'
import { difference, lessCorrections } from '../../kit/replay/exposition.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { expectedSeries } from '../../kit/world/oracle/expected-series.ts'
import { createWorldService, setSwitches } from '../../kit/world/start-world.ts'
import type { Switches } from '../../kit/world/switches.ts'
import { shippedRule } from '../weeks/simulated-weeks.ts'
import { simulatedTransport } from '../simulation/simulated-transport.ts'

const MINUTE = 60
const INTERVAL = 15
const COUNTED = ['callwatch_invited_total', 'callwatch_invited_corrections_total']
/** Whatever participants may look like. */
const FACTS = { rejoined: 0.2, stateless: 0.3, without_participants: 0.05 }

/** A rule on the people who were invited to a group's call. */
const RULE = ruleSchema.parse({
  name: 'PeopleDoNotJoin',
  signal: 'not_joined',
  match: { receiver_type: 'group' },
  window: '30m',
  above: 0.5,
  min_calls: 10,
  for: '5m',
})

/** A daemon that polls a service, of whose calls all but the first participant cannot join for an hour. It restarts amid that hour. */
async function weathered(listedParticipants: Switches['listedParticipants']) {
  const [clock, draw] = [virtualClock(CREATED), random(1, 'not joined')]
  const switches = { listedParticipants, facts: FACTS, order: 'newest' } as const
  const service = createWorldService(
    { seed: 7, history: 50, callsPerMinute: 8, answerProbability: 0.95, speed: 10, switches },
    CREATED,
  )
  const path = join(temporaryFolder(), 'store.db')
  const kept = openSqliteStore({ path })
  const live: Notification[] = []
  const store: typeof kept = {
    ...kept,
    commit: async (name, commit) => {
      await kept.commit(name, commit)
      live.push(...commit.alerts.notifications)
    },
  }
  const rules = [RULE, shippedRule('HighFailureRate'), shippedRule('VeryHighFailureRate')]
  const poll = pollConfig({ interval: INTERVAL, baseline: 'skip', pageSize: 100 })
  const settings = { target: targetConfig({ apiKey: 'simulator-full-access' }), poll, rules }
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
  async function pass(minutes: number) {
    const end = clock.wall() + minutes * MINUTE
    while (clock.wall() < end) {
      await clock.advance(INTERVAL)
      advance(service.world, clock.wall(), service.switches)
    }
  }
  await restart()
  await pass(90)
  const stormAt = clock.wall()
  setSwitches(service, { facts: { ...FACTS, alone: 1 } })
  await pass(20)
  await restart()
  await pass(40)
  const overAt = clock.wall()
  setSwitches(service, { facts: FACTS })
  await pass(90)
  setSwitches(service, { arrivals: false })
  await pass(120)
  stop()
  const { created } = target!.ledger.sync
  const expected = expectedSeries(service.world.ledger, { created, baseline: 'skip', now: clock.wall() })
  const counted = exportedSeries(target!, COUNTED)
  await kept.close()
  await using reader = await openReader({ path })
  const history = {
    evaluations: await reader.evaluations('a', 0),
    finishes: await reader.finishes('a', 0),
    sync: target!.ledger.sync,
    gaps: await reader.gaps('a', poll.lookback),
  }
  const replayed = replay(history, { target: 'a', rules, interval: INTERVAL }).notifications
  return { live, replayed, expected, counted, stormAt, overAt }
}

test.each(['given', 'absent'] as const)(
  'a storm in which only joins fail fires the rule of the docs, and no rule on failures, where the list has participants %s',
  async (listedParticipants) => {
    const { live, replayed, expected, counted, stormAt, overAt } = await weathered(listedParticipants)
    expect(live.map(({ alert, kind }) => `${alert} ${kind}`)).toEqual([
      'PeopleDoNotJoin firing',
      'PeopleDoNotJoin resolved',
    ])
    const [fired, resolved] = live.map(({ at }) => at)
    expect((fired! - stormAt) / MINUTE).toBeGreaterThan(5)
    expect((fired! - stormAt) / MINUTE).toBeLessThan(35)
    expect((resolved! - overAt) / MINUTE).toBeGreaterThan(5)
    expect((resolved! - overAt) / MINUTE).toBeLessThan(35)

    // Participants that come with Get Call are known up to a poll later than a backtest says.
    const line = ({ alert, kind, at, value, calls }: Notification) =>
      listedParticipants === 'given' ? { alert, kind, at, value, calls } : { alert, kind }
    expect(replayed.map(line)).toEqual(live.map(line))

    const outcomes = ['joined', 'absent', 'unknown'].map((outcome) => `callwatch_invited_total{outcome="${outcome}"}`)
    const truth = lessCorrections(expected)
    expect(outcomes.filter((name) => !(truth.get(name)! > 20))).toEqual([])
    expect(difference(truth, lessCorrections(counted), ['callwatch_invited_total'])).toEqual([])
  },
)
