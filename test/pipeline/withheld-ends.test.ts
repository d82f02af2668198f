import { Subject } from 'rxjs'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { COUNTERS, seriesKey } from '../../src/ledger/series.ts'
import { connect } from '../../src/pipeline/connection.ts'
import { hintQueue } from '../../src/pipeline/hint-queue.ts'
import { pipeline } from '../../src/pipeline/pipeline.ts'
import { openTarget, type Target } from '../../src/pipeline/target.ts'
import { createService } from '../../src/simulator/answers/service.ts'
import { newWebhooks } from '../../src/simulator/answers/webhooks.ts'
import { advance } from '../../src/simulator/calls/world.ts'
import { openSqliteStore } from '../../src/store/open-sqlite.ts'
import { readWebhook } from '../../src/web/hooks.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { CREATED } from '../ledger/seen.ts'
import { simulatedTransport } from '../simulation/simulated-transport.ts'
import { pollConfig, targetConfig } from './settings.ts'

const INTERVAL = 60
const END = /_(?:ended|unanswered|rejected|cancelled)$/

/** An hour of a target with a minute between its polls, whose webhooks have faults. Its process restarts after half an hour. */
async function anHour() {
  const clock = virtualClock(CREATED)
  const webhookFault = { lost: 0.2, twice: 0.1, reordered: 0.1, other_app: 0.1, forged: 0.1 }
  const service = createService(
    { callsPerMinute: 6, speed: 4, history: 0, open: 0, switches: { webhookFault } },
    CREATED,
  )
  const webhooks = newWebhooks(service)
  const store = openSqliteStore({ path: ':memory:' })
  const settings = {
    target: targetConfig({
      appId: 'simulator',
      apiKey: 'simulator-full-access',
      webhook: { username: 'v', password: 'p' },
    }),
    poll: pollConfig({ interval: INTERVAL, pageSize: 100, maxRequestsPerMinute: 200, retries: 2 }),
    rules: [],
  }
  let running: { target: Target; hints: ReturnType<typeof hintQueue>; stop: () => void } | undefined
  const restarts: number[] = []

  async function start() {
    running?.stop()
    restarts.push(clock.wall())
    const target = await openTarget({ settings, store, clock, receiversOf: () => [] })
    const hints = hintQueue(clock)
    const client = connect(settings, () => target.ledger, {
      ownership: { owns: () => true },
      clock,
      log: pino({ level: 'silent' }),
      transportTo: () => simulatedTransport(service, clock, () => 0.5),
    })
    const never$ = new Subject<void>()
    const options = { target, client, hints, random: () => 0.5, offset: 1, draining$: never$, aborted$: never$ }
    const subscription = pipeline({ ...options, mask: (text) => text }).subscribe()
    running = { target, hints, stop: () => subscription.unsubscribe() }
  }

  await start()
  for (let second = 0; second < 3600; second += 0.5) {
    await clock.advance(0.5)
    if (second === 1800) await start()
    if (second === 3300) service.switches = { ...service.switches, arrivals: false }
    advance(service.world, clock.wall(), service.switches)
    for (const { body, isForged } of webhooks.due()) {
      const { appId, hint } = readWebhook(Buffer.from(body))!
      if (isForged || appId !== 'simulator') continue
      running!.hints.add(hint!)
      if (hint!.shows === 'end') running!.target.ends?.note(hint!.id, clock.wall())
    }
  }
  running!.stop()
  const counted = (announced: string) =>
    running!.target.ledger.counters.get(seriesKey(COUNTERS.webhookEnds, announced)) ?? 0
  const ended = service.world.ledger.filter(({ event }) => END.test(`_${event.replace('canceled', 'cancelled')}`))
  return { counted, ended, lost: webhooks.sent.lost, restarts, target: running!.target }
}

test('over an hour, with a restart, the ends that are counted as not announced are those that the simulator withheld', async () => {
  const { counted, ended, lost, restarts, target } = await anHour()
  const withheld = new Set(lost.filter(({ trigger }) => END.test(trigger)).map(({ sessionId }) => sessionId))
  const isHeard = (at: number) => restarts.every((restart) => at - 60 >= restart || at + 60 <= restart)
  const settled = ended.filter(({ at }) => at < CREATED + 3600 - 2 * INTERVAL)
  expect(target.ledger.finished.between(0, Infinity).length).toBe(ended.length)
  const heard = settled.filter(({ endedAt }) => isHeard(endedAt!))
  expect(heard.length).toBeGreaterThan(200)
  expect(counted('no')).toBe(heard.filter(({ sessionId }) => withheld.has(sessionId)).length)
  expect(counted('yes') + counted('no') + counted('unknown')).toBeGreaterThanOrEqual(settled.length)
}, 60_000)
