import { onTestFinished } from 'vitest'
import { ReplaySubject } from 'rxjs'
import { deliverEvents } from '../../../../src/events/webhooks/deliver-events.ts'
import type { WebhookEvent } from '../../../../src/events/webhooks/webhook-event.ts'
import type { WebhookConfig } from '../../../../src/events/webhooks/webhook-section.ts'
import { DeliveryError } from '../../../../src/network/delivery-error.ts'
import { openSqliteStore } from '../../../../src/store/open-sqlite.ts'
import type { Store } from '../../../../src/store/store.ts'
import { virtualClock } from '../../../kit/virtual-clock.ts'
import { completePoll } from '../../../kit/ledger/seen.ts'
import { openIn, type OpenTarget } from '../../../kit/store/place.ts'
import { webhookOf } from '../../../kit/events/webhooks/any-webhook.ts'

/** A receiver that refuses an event has refused it for ten minutes at the attempt after 811 s. */
export const RETENTION = 1200

/** What a receiver does with the nth attempt of all, beginning with 1; undefined accepts it. */
export type Receive = (
  subject: string,
  attempt: number,
) => DeliveryError | Promise<DeliveryError | undefined> | undefined

export function answered(status: number, retryAfter?: number): DeliveryError {
  // As an answer over HTTP (http-sender.ts).
  const isRetryable = status === 429 || status < 400 || status >= 500
  return new DeliveryError(`it answered ${status}`, { retryable: isRetryable, status, retryAfter })
}

/** A request that had no answer. @param mayHaveArrived whether there was a connection */
export function unanswered(mayHaveArrived: boolean): DeliveryError {
  return new DeliveryError('it did not answer', { retryable: true, mayHaveArrived })
}

/** A log of events in a store, and a webhook that gets them, on a clock of the test. */
export function delivering(
  given: Parameters<typeof webhookOf>[0] = { from: 'start' },
  receive: Receive = () => undefined,
) {
  const clock = virtualClock()
  const store = openSqliteStore({ path: ':memory:' })
  const received: [at: number, subject: string][] = []
  const ids: string[] = []
  const events: WebhookEvent[] = []
  const start = clock.monotonic()
  let target: OpenTarget | undefined
  let commits = 0
  let attempts = 0
  const state = { receive, isLeader: true, expectLeader: (): void => undefined, retention: RETENTION }

  /** Commits events of calls with these names. */
  async function append(subjects: readonly string[], data: object = {}, type = 'call.initiated'): Promise<void> {
    target ??= await openIn(store)
    const id = `commit-${(commits += 1)}`
    const texts = subjects.map((subject) => JSON.stringify({ type, subject, time: '2026-11-21T00:00:00.000Z', data }))
    await target.see(completePoll(target.ledger.sync.seq + 1), { events: { id, at: clock.wall(), texts } })
  }

  /** Runs a daemon's deliveries until it stops, or is killed. */
  function run(
    webhook: WebhookConfig = webhookOf(given),
    on: Pick<Store, 'events' | 'latestEvents' | 'webhooks' | 'undelivered' | 'saveWebhook'> = store,
  ) {
    const draining$ = new ReplaySubject<void>(1)
    const ended = { is: false }
    const running = deliverEvents({
      webhook,
      post: async (id, body) => {
        ids.push(id)
        const { subject } = JSON.parse(body)
        received.push([clock.monotonic() - start, subject])
        const problem = await state.receive(subject, (attempts += 1))
        if (problem !== undefined) throw problem
      },
      store: on,
      clock,
      expiredBefore: () => clock.wall() - state.retention,
      isLeader: () => state.isLeader,
      expectLeader: async () => state.expectLeader(),
      draining$,
    }).subscribe({ next: (event) => void events.push(event), complete: () => void (ended.is = true) })
    onTestFinished(() => running.unsubscribe())
    return { stop: () => draining$.next(), kill: () => running.unsubscribe(), ended }
  }

  const subjects = () => received.map(([, subject]) => subject)
  const outcomes = () =>
    events.flatMap((event) => (event.kind === 'events' ? `${event.n} ${event.outcome}` : event.kind))
  const stored = async () => (await store.webhooks())[0]
  return {
    ids: () => ids,
    from: (wall: number) => clock.stepWall(wall - clock.wall()),
    clock,
    store,
    append,
    run,
    received,
    subjects,
    events,
    outcomes,
    stored,
    state,
  }
}
