import { setTimeout as wait } from 'node:timers/promises'
import { filter, firstValueFrom, NEVER, scan, takeUntil, timer } from 'rxjs'
import { systemClock } from '../../src/clock/clock.ts'
import { deliverEvents } from '../../src/events/webhooks/deliver-events.ts'
import { eventPoster } from '../../src/events/webhooks/post-event.ts'
import { webhookSection } from '../../src/events/webhooks/webhook-section.ts'
import { openStore } from '../../src/store/open-store.ts'
import { answer, forkedWith } from './answer.ts'
import { measure, type Measured } from './measure.ts'

/** What delivering took, and how much larger the process got meanwhile, its store apart (bytes). */
export type Delivered = Measured & { events: number; growth: number }

const { path, url } = forkedWith<{ path: string; url: string }>()
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const webhook = webhookSection.parse({ name: 'bench', url, secret, from: 'start' })

/** Delivers the log of a store until so many events are delivered, or for so long (seconds). */
answer(async ({ until, seconds }: { until?: number; seconds?: number }): Promise<Delivered> => {
  const store = await openStore({ path }, [])
  const clock = systemClock
  const delivering = deliverEvents({
    webhook,
    post: eventPoster(webhook, clock),
    store,
    clock,
    expiredBefore: () => systemClock.wall() - 7 * 86_400,
    isLeader: () => true,
    expectLeader: async () => undefined,
    draining$: NEVER,
  })
  await wait(500)
  const before = process.memoryUsage.rss()
  let events = 0
  const { measured } = await measure(async () => {
    const counted$ = delivering.pipe(
      scan((n, event) => (event.kind === 'events' && event.outcome === 'delivered' ? n + event.n : n), 0),
      filter((n) => (events = n) === until),
      takeUntil(seconds === undefined ? NEVER : timer(seconds * 1000)),
    )
    await firstValueFrom(counted$, { defaultValue: 0 })
  })
  return { ...measured, events, growth: process.memoryUsage.rss() - before }
})
