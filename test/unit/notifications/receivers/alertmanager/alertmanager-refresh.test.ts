import { Subject } from 'rxjs'
import { describe, expect, test } from 'vitest'
import type { LiveAlert } from '../../../../../src/alerts/alert.ts'
import { alertmanagerRefresh } from '../../../../../src/notifications/receivers/alertmanager/alertmanager-refresh.ts'
import type { AlertmanagerAlert } from '../../../../../src/notifications/receivers/alertmanager/alertmanager-alert.ts'
import { refreshing } from '../../../../kit/notifications/receivers/refreshing.ts'
import type { Delivery } from '../../../../../src/notifications/delivery/deliver.ts'
import { DeliveryError } from '../../../../../src/network/delivery-error.ts'
import { virtualClock } from '../../../../kit/virtual-clock.ts'
import {
  firingSince,
  type Differing,
} from '../../../../kit/notifications/receivers/alertmanager/alertmanager-sample.ts'
import { AT } from '../../../../kit/notifications/sample.ts'

/** What Alertmanager makes of a post: an error that it rejects with, or nothing. */
type Receive = (attempt: number) => Error | Promise<void> | undefined

/**
 * Callwatch with these instances on the virtual clock, and an Alertmanager that records what it gets. An empty list only asks for its
 * clock, which nobody sets.
 */
function refreshed(receive: Receive = () => undefined, { interval = 15 } = {}) {
  const clock = virtualClock(AT)
  const draining$ = new Subject<void>()
  const instances = new Map<string, LiveAlert>()
  const posts: { second: number; alerts: readonly AlertmanagerAlert[] }[] = []
  const deliveries: Delivery[] = []
  const broken = { read: false }
  const daemon = { membership: 'first' }
  let completed = false
  const refresh = alertmanagerRefresh({
    url: 'http://alertmanager.test',
    clock,
    pageUrl: 'https://callwatch.test',
    post: async (alerts) => {
      const date = Math.floor(AT + clock.monotonic())
      if (alerts.length === 0) return date
      posts.push({ second: clock.monotonic(), alerts })
      const answer = receive(posts.length)
      if (answer instanceof Error) throw answer
      await answer
      return date
    },
  })
  const alerts = () => {
    if (broken.read) throw new TypeError('no instances')
    return [...instances.values()]
  }
  const state = { interval: () => interval, alerts, membership: () => daemon.membership }
  const subscribe = () =>
    refreshing({ name: 'am-1', refresh }, state, { clock, draining$ }).subscribe({
      next: (delivery) => deliveries.push(delivery),
      complete: () => (completed = true),
    })
  return {
    clock,
    draining$,
    posts,
    deliveries,
    broken,
    daemon,
    subscribe,
    isCompleted: () => completed,
    fire: (alert: string, { rule, ...given }: Differing = {}) =>
      void instances.set(alert, firingSince(clock.wall(), { rule: { name: alert, ...rule }, ...given })),
    end: (alert: string) => void instances.delete(alert),
    /** What was posted when: `a` where it fires, `a over at 10` where it ended ten seconds after the start. */
    posted: () =>
      posts.map(({ second, alerts }) => `${second}: ${alerts.map((alert) => described(alert, second)).join(', ')}`),
    seconds: () => posts.map(({ second }) => second),
  }
}

function described({ labels, endsAt }: AlertmanagerAlert, second: number): string {
  const end = Date.parse(endsAt) / 1000 - AT
  return end > second ? labels['alertname']! : `${labels['alertname']} over at ${end}`
}

const unavailable = (retryAfter?: number) =>
  new DeliveryError('Alertmanager answered 503', { retryable: true, retryAfter })
const refusal = new DeliveryError('Alertmanager refused with 400', { retryable: false })

describe('a firing alert in Alertmanager', () => {
  test('is posted at once after a start, and again each minute', async () => {
    const { fire, subscribe, clock, posted, posts, deliveries } = refreshed()
    fire('a')
    fire('b')
    subscribe()
    await clock.advance(125)
    expect(posted()).toEqual(['0: a, b', '60: a, b', '120: a, b'])
    expect(deliveries).toEqual(posts.map(() => ({ receiver: 'am-1', outcome: 'sent' })))
    expect(posts[0]!.alerts[0]).toMatchObject({
      generatorURL: expect.stringMatching(/^https:\/\/callwatch\.test\/\?.*#alert$/),
    })
  })

  test('is posted completely within a second of its start', async () => {
    const { fire, subscribe, clock, posted } = refreshed()
    subscribe()
    fire('a')
    await clock.advance(10.5)
    fire('b')
    await clock.advance(70)
    expect(posted()).toEqual(['0: a', '11: a, b', '71: a, b'])
  })

  test('is posted with its current value', async () => {
    const { fire, subscribe, clock, posts } = refreshed()
    subscribe()
    fire('a')
    await clock.advance(30)
    fire('a', { value: 0.9 })
    await clock.advance(30)
    expect(posts.map(({ alerts }) => alerts[0]!.annotations['value'])).toEqual(['0.425', '0.9'])
  })

  test('may be recovering, but not pending', async () => {
    const { fire, subscribe, clock, posted } = refreshed()
    subscribe()
    fire('a', { state: 'pending', firingSince: undefined })
    await clock.advance(90)
    expect(posted()).toEqual([])
    fire('a')
    await clock.advance(5)
    fire('a', { state: 'recovering' })
    await clock.advance(60)
    expect(posted()).toEqual(['91: a', '151: a'])
  })

  test.each([
    [15, 300],
    [75, 300],
    [120, 480],
  ])('ends by itself, with a poll each %d s after %d s', async (interval, lifetime) => {
    const { fire, subscribe, clock, posts } = refreshed(undefined, { interval })
    fire('a')
    subscribe()
    await clock.advance(60)
    const ends = posts.map(({ alerts }) => Date.parse(alerts[0]!.endsAt) / 1000 - AT)
    expect(ends).toEqual([lifetime, 60 + lifetime])
  })
})

describe('an ended alert in Alertmanager', () => {
  test('is posted within a second with the time when it ended, once more a minute later, and then no more', async () => {
    const { fire, end, subscribe, clock, posted } = refreshed()
    fire('a')
    subscribe()
    await clock.advance(10)
    end('a')
    await clock.advance(3600)
    expect(posted()).toEqual(['0: a', '11: a over at 11', '71: a over at 11'])
  })

  test('is posted beside what still fires', async () => {
    const { fire, end, subscribe, clock, posted } = refreshed()
    fire('a')
    fire('b')
    subscribe()
    await clock.advance(29.5)
    end('a')
    await clock.advance(150)
    expect(posted()).toEqual(['0: a, b', '30: a over at 30, b', '90: a over at 30, b', '150: b'])
  })

  test('and fires again is firing', async () => {
    const { fire, end, subscribe, clock, posted } = refreshed()
    fire('a')
    subscribe()
    await clock.advance(9.5)
    end('a')
    await clock.advance(10)
    fire('a')
    await clock.advance(65)
    expect(posted()).toEqual(['0: a', '10: a over at 10', '20: a', '80: a'])
  })

  test('is also what is the same alert with another severity: its labels are its identity', async () => {
    const { fire, subscribe, clock, posted, posts } = refreshed()
    fire('a')
    subscribe()
    await clock.advance(9.5)
    fire('a', { rule: { severity: 'warning' } })
    await clock.advance(1)
    expect(posted()).toEqual(['0: a', '10: a over at 10, a'])
    expect(posts[1]!.alerts.map(({ labels }) => labels['severity'])).toEqual(['critical', 'warning'])
  })

  test.each([-3600, 3600])(
    'ends when it ended by the clock of Alertmanager, though the host was set %d s off',
    async (step) => {
      const { fire, end, subscribe, clock, posts } = refreshed((attempt) => (attempt === 2 ? unavailable() : undefined))
      fire('a')
      subscribe()
      await clock.advance(10)
      end('a')
      await clock.advance(1)
      clock.stepWall(step)
      await clock.advance(2)
      const { startsAt, endsAt } = posts[2]!.alerts[0]!
      expect(Date.parse(endsAt) / 1000).toBe(AT + 11)
      expect(startsAt <= endsAt).toBe(true)
    },
  )
})

describe('an Alertmanager that fails', () => {
  test('gets retries with increasing waits, up to a minute', async () => {
    const { fire, subscribe, clock, seconds, deliveries } = refreshed(() => unavailable())
    fire('a')
    subscribe()
    await clock.advance(250)
    expect(seconds()).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
    expect(deliveries[0]).toEqual({
      receiver: 'am-1',
      outcome: 'retried',
      problem: 'Alertmanager answered 503',
      mayHaveArrived: false,
      retryIn: 1,
    })
  })

  test.each([
    [45, 45],
    [86_400, 60],
    [Infinity, 60],
  ])('with a Retry-After of %d s gets a retry after %d s', async (asked, waited) => {
    const { fire, subscribe, clock, seconds } = refreshed((attempt) => (attempt === 1 ? unavailable(asked) : undefined))
    fire('a')
    subscribe()
    await clock.advance(70)
    expect(seconds()).toEqual([0, waited])
  })

  test('gets the alerts that ended meanwhile, and when', async () => {
    const { fire, end, subscribe, clock, posted } = refreshed((attempt) =>
      attempt > 1 && attempt < 8 ? unavailable() : undefined,
    )
    fire('a')
    subscribe()
    await clock.advance(9.5)
    end('a')
    await clock.advance(600)
    expect(posted()).toEqual(['0: a', ...[10, 11, 13, 17, 25, 41, 73].map((second) => `${second}: a over at 10`)])
  })

  test('gets the end of alerts that it may have accepted without an answer', async () => {
    const { fire, end, subscribe, clock, posted } = refreshed((attempt) => (attempt === 1 ? unavailable() : undefined))
    fire('a')
    fire('b')
    subscribe()
    await clock.advance(0.5)
    end('a')
    await clock.advance(1)
    expect(posted()).toEqual(['0: a, b', '1: a over at 1, b'])
  })

  test('and refuses permanently gets the next refresh, and the reason is reported', async () => {
    const { fire, subscribe, clock, seconds, deliveries } = refreshed((attempt) => (attempt < 3 ? refusal : undefined))
    fire('a')
    subscribe()
    await clock.advance(185)
    expect(seconds()).toEqual([0, 60, 120, 180])
    expect(deliveries.map(({ outcome, problem }) => [outcome, problem])).toEqual([
      ['retried', 'Alertmanager refused with 400'],
      ['retried', 'Alertmanager refused with 400'],
      ['sent', undefined],
      ['sent', undefined],
    ])
  })

  test('gets no alert that ends while it is asked for its clock', async () => {
    const { promise, resolve: answer } = Promise.withResolvers<number>()
    const clock = virtualClock(AT)
    const posts: (readonly AlertmanagerAlert[])[] = []
    const post = (alerts: readonly AlertmanagerAlert[]) => {
      posts.push(alerts)
      return alerts.length === 0 ? promise : Promise.resolve(AT)
    }
    const refresh = alertmanagerRefresh({ url: 'http://alertmanager.test', clock, post })
    let alerts = [firingSince(AT)]
    refreshing({ name: 'am-1', refresh }, { alerts: () => alerts }, { clock, draining$: new Subject() }).subscribe()
    await clock.advance(1)
    alerts = []
    answer(AT)
    await clock.advance(1)
    expect(posts.flat()).toEqual([])
  })

  test('gets one request at a time', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const { fire, subscribe, clock, seconds } = refreshed((attempt) => (attempt === 1 ? promise : undefined))
    fire('a')
    subscribe()
    await clock.advance(4.5)
    fire('b')
    await clock.advance(4)
    expect(seconds()).toEqual([0])
    release()
    await clock.advance(1)
    expect(seconds()).toEqual([0, 9])
  })
})

test('an unforeseen error is reported, and does not end the refresh of Alertmanager', async () => {
  const { fire, subscribe, clock, seconds, deliveries, broken } = refreshed()
  fire('a')
  broken.read = true
  subscribe()
  await clock.advance(30)
  const error = new TypeError('no instances')
  expect(deliveries[0]).toEqual({
    receiver: 'am-1',
    outcome: 'retried',
    problem: 'internal error',
    mayHaveArrived: true,
    retryIn: 1,
    error,
  })
  expect(deliveries).toHaveLength(5)
  broken.read = false
  await clock.advance(40)
  expect(seconds()).toEqual([31])
})

test('what another daemon may have posted meanwhile is not ended by one that leads again', async () => {
  const { fire, end, subscribe, clock, posted, daemon } = refreshed()
  fire('a')
  subscribe()
  await clock.advance(4.5)
  end('a')
  fire('b')
  daemon.membership = 'second'
  await clock.advance(5)
  expect(posted()).toEqual(['0: a', '5: b'])
})

describe('the refresh of Alertmanager, when it stops,', () => {
  test('posts nothing more', async () => {
    const { fire, end, subscribe, clock, draining$, seconds, isCompleted } = refreshed()
    fire('a')
    subscribe()
    await clock.advance(5)
    draining$.next()
    end('a')
    await clock.advance(300)
    expect([seconds(), isCompleted()]).toEqual([[0], true])
  })

  test('finishes a running request first', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const { fire, subscribe, clock, draining$, deliveries, isCompleted } = refreshed(() => promise)
    fire('a')
    subscribe()
    await clock.advance(1)
    draining$.next()
    await clock.advance(1)
    expect(isCompleted()).toBe(false)
    release()
    await clock.advance(0)
    expect([deliveries.map(({ outcome }) => outcome), isCompleted()]).toEqual([['sent'], true])
  })
})

describe('the clock of Alertmanager', () => {
  /** An Alertmanager whose clock is that many seconds ahead of the host's, and that answers an empty list like this. */
  function aheadBy(skew: number, toEmpty: () => number | Error = () => skew) {
    const clock = virtualClock(AT)
    const lives: number[] = []
    const requests: number[] = []
    const refresh = alertmanagerRefresh({
      url: 'http://alertmanager.test',
      clock,
      post: (alerts) => {
        requests.push(alerts.length)
        const answer = alerts.length === 0 ? toEmpty() : skew
        if (answer instanceof Error) return Promise.reject(answer)
        lives.push(...alerts.map(({ endsAt }) => Date.parse(endsAt) / 1000 - clock.wall()))
        return Promise.resolve(Math.floor(clock.wall() + answer))
      },
    })
    const state = { alerts: () => [firingSince(AT)] }
    refreshing({ name: 'am-1', refresh }, state, { clock, draining$: new Subject() }).subscribe()
    return { clock, lives, requests }
  }

  const answered = (status: number, retryAfter?: number) =>
    new DeliveryError(`Alertmanager answered ${status}`, { retryable: status >= 429, status, retryAfter })

  test.each([400, 422, 500])(
    'is taken for that of the host until an answer shows it, if an empty list is answered with %d',
    async (status) => {
      const { clock, lives, requests } = aheadBy(360, () => answered(status))
      await clock.advance(125)
      expect(lives).toEqual([300, 660, 660])
      expect(requests).toEqual([0, 1, 1, 1])
    },
  )

  test('stays as it was last known if an empty list is refused after the clock of the host was set', async () => {
    let isStrict = false
    const { clock, lives } = aheadBy(360, () => (isStrict ? answered(400) : 360))
    await clock.advance(5)
    isStrict = true
    clock.stepWall(-30)
    await clock.advance(60)
    expect(lives).toEqual([660, 660])
  })

  test.each([answered(429, 30), new DeliveryError('Alertmanager could not be reached', { retryable: true })])(
    'is asked for again before alerts are posted after: $message',
    async (error) => {
      const answers = [error]
      const { clock, lives, requests } = aheadBy(360, () => answers.shift() ?? 360)
      await clock.advance(0)
      expect(requests).toEqual([0])
      await clock.advance(30)
      expect(requests).toEqual([0, 0, 1])
      expect(lives).toEqual([660])
    },
  )

  test.each([
    [-86_400, -86_100],
    [-86_402, 300],
    [-AT, 300],
    [7 * 86_400, 7 * 86_400 + 300],
  ])('may be ahead by %d s, and alerts then end %d s from now, by the clock of the host', async (skew, life) => {
    const { clock, lives } = aheadBy(skew)
    await clock.advance(60)
    expect(lives).toEqual([life, life])
  })
})
