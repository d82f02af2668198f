import { Subject } from 'rxjs'
import { pino } from 'pino'
import { connect } from '../../../src/pipeline/connection.ts'
import { hintQueue } from '../../../src/pipeline/hint-queue.ts'
import { pipeline } from '../../../src/pipeline/pipeline.ts'
import { openTarget, type Target } from '../../../src/pipeline/target.ts'
import { createService } from '../../../src/simulator/answers/service.ts'
import { newWebhooks } from '../../../src/simulator/answers/webhooks.ts'
import { advance } from '../../../src/simulator/calls/world.ts'
import type { Switches } from '../../../src/simulator/switches.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { readWebhook } from '../../../src/web/hooks.ts'
import { virtualClock } from '../virtual-clock.ts'
import { CREATED } from '../ledger/seen.ts'
import { simulatedTransport } from '../../promises/simulation/simulated-transport.ts'
import { pollConfig, targetConfig } from './settings.ts'

export const INTERVAL = 60
const END = /_(?:ended|unanswered|rejected|cancelled)$/

type World = {
  hours?: number
  callsPerMinute?: number
  answerProbability?: number
  switches: Partial<Switches>
  /** When its process restarts (seconds). */
  restartsAt?: number
}

/** A target with a minute between its polls, whose service sends webhooks. */
export async function watched({
  hours = 1,
  callsPerMinute = 6,
  answerProbability = 0.75,
  switches,
  restartsAt,
}: World) {
  const clock = virtualClock(CREATED)
  const rate = { callsPerMinute, answerProbability, speed: 4, history: 0, open: 0 }
  const service = createService({ ...rate, switches }, CREATED)
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
  const counted = { announced: 0, missed: 0 }

  async function start() {
    running?.stop()
    const target = await openTarget({ settings, store, clock })
    const hints = hintQueue(clock, settings.target)
    const client = connect(settings, () => target, {
      ownership: { owns: () => true },
      clock,
      log: pino({ level: 'silent' }),
      transportTo: () => simulatedTransport(service, clock, () => 0.5),
    })
    const never$ = new Subject<void>()
    const options = { target, client, hints, random: () => 0.5, offset: 1, draining$: never$, aborted$: never$ }
    const subscription = pipeline({ ...options, mask: (text) => text }).subscribe((event) => {
      if (event.kind !== 'committed') return
      counted.announced += event.committed.ends!.announced
      counted.missed += event.committed.ends!.missed
    })
    running = { target, hints, stop: () => subscription.unsubscribe() }
  }

  await start()
  for (let second = 0; second < hours * 3600; second += 0.5) {
    await clock.advance(0.5)
    if (second === restartsAt) await start()
    if (second === hours * 3600 - 300) service.switches = { ...service.switches, arrivals: false }
    advance(service.world, clock.wall(), service.switches)
    for (const { body, isForged } of webhooks.due()) {
      const { appId, hint } = readWebhook(Buffer.from(body))!
      if (isForged || appId !== 'simulator') continue
      const { hints, target } = running!
      hints.add(hint!)
      target.ends?.note(hint!)
    }
  }
  running!.stop()
  const ended = service.world.ledger.filter(({ event }) => END.test(`_${event.replace('canceled', 'cancelled')}`))
  const knownOf = (id: string) => running!.target.ledger.calls.get(id)?.finish?.known ?? Infinity
  /** How long the ends of calls with a status took to be known, sorted (seconds). */
  const lagsOf = (status: string) =>
    ended
      .flatMap(({ sessionId, event, at }) => (event === status ? [knownOf(sessionId) - at] : []))
      .toSorted((a, b) => a - b)
  return { counted, ended, lost: webhooks.sent.lost, lagsOf, target: running!.target }
}
