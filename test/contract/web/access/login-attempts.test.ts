import fastify from 'fastify'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { authenticate } from '../../../../src/web/authentication.ts'
import { delayedFailures } from '../../../../src/web/login-attempts.ts'
import { answerErrors } from '../../../../src/web/problem.ts'
import type { WebEvent } from '../../../../src/web/authentication.ts'
import { virtualClock } from '../../../kit/virtual-clock.ts'
import { AUTH, basic, serve, shownTarget } from '../../../kit/web/serve.ts'

describe('failed log-ins of a peer', () => {
  /** Whether a failure is answered rather than refused, and after how many seconds. */
  async function answered(
    delayed: ReturnType<typeof delayedFailures>,
    clock: ReturnType<typeof virtualClock>,
    [peer, guess]: [string, string],
  ) {
    const begun = clock.monotonic()
    const answering = delayed(peer, guess)
    const pending = Symbol('pending')
    let isAnswered: boolean | symbol = pending
    do {
      await clock.advance(0.1)
      isAnswered = await Promise.race([answering, Promise.resolve(pending)])
    } while (isAnswered === pending)
    return [isAnswered, Math.round((clock.monotonic() - begun) * 10) / 10]
  }

  /** Fails as often as it causes no delay. */
  async function guess(delayed: ReturnType<typeof delayedFailures>, peer: (i: number) => string) {
    for (let i = 0; i < 5; i++) expect(await delayed(peer(i), `guess ${i}`)).toBe(true)
  }

  test('wait after the fifth, for up to five seconds, until a minute passes without a failure', async () => {
    const clock = virtualClock()
    const delayed = delayedFailures(clock)
    const waits: unknown[] = []
    for (let i = 0; i < 11; i++) waits.push((await answered(delayed, clock, ['10.0.0.1', `guess ${i}`]))[1])
    expect(waits).toEqual([0.1, 0.1, 0.1, 0.1, 0.1, 0.5, 1, 2, 4, 5, 5])
    expect(await answered(delayed, clock, ['10.0.0.2', 'guess'])).toEqual([true, 0.1])
    await clock.advance(61)
    expect(await answered(delayed, clock, ['10.0.0.1', 'guess 12'])).toEqual([true, 0.1])
  })

  test('wait one at a time: parallel ones are refused, and count', async () => {
    const clock = virtualClock()
    const delayed = delayedFailures(clock)
    await guess(delayed, () => '10.0.0.1')
    const waiting = delayed('10.0.0.1', 'guess 6')
    expect(await delayed('10.0.0.1', 'guess 7')).toBe(false)
    await clock.advance(0.5)
    expect(await waiting).toBe(true)
    expect(await answered(delayed, clock, ['10.0.0.1', 'guess 8'])).toEqual([true, 2])
  })

  test('do not wait after the same wrong password again and again, which guesses nothing', async () => {
    const clock = virtualClock()
    const delayed = delayedFailures(clock)
    for (let i = 0; i < 100; i++) {
      expect(await delayed('10.0.0.1', 'the password of last year')).toBe(true)
      await clock.advance(10)
    }
    for (let i = 0; i < 4; i++) expect(await answered(delayed, clock, ['10.0.0.1', `guess ${i}`])).toEqual([true, 0.1])
    expect(await answered(delayed, clock, ['10.0.0.1', 'guess 6'])).toEqual([true, 0.5])
  })

  test.each([
    { peers: (i: number) => `2001:db8::${i}`, same: '2001:db8:0:0:1:2:3:4', other: '2001:db8:0:1::1' },
    { peers: (i: number) => `fe80::${i}%eth0`, same: 'fe80::ffff%eth0', other: 'fe80:0:0:1::1%eth0' },
  ])('from $same count for its whole /64, and not for $other', async ({ peers, same, other }) => {
    const delayed = delayedFailures(virtualClock())
    await guess(delayed, peers)
    void delayed(same, 'guess 6')
    expect(await delayed(peers(9), 'guess 7')).toBe(false)
    expect(await delayed(other, 'guess 8')).toBe(true)
  })

  test('from an IPv4-mapped IPv6 address count for that address alone', async () => {
    const delayed = delayedFailures(virtualClock())
    await guess(delayed, () => '::ffff:10.0.0.1')
    void delayed('::ffff:10.0.0.1', 'guess 6')
    expect(await delayed('::ffff:10.0.0.1', 'guess 7')).toBe(false)
    expect(await delayed('::ffff:10.0.0.2', 'guess 8')).toBe(true)
  })

  test('are evicted after ten thousand later peers have failed', async () => {
    const delayed = delayedFailures(virtualClock())
    await guess(delayed, () => 'the first')
    for (let i = 0; i < 10_000; i++) await delayed(`10.${i >> 8}.${i & 255}.1`, 'guess')
    expect(await delayed('the first', 'guess 6')).toBe(true)
  })
})

test('a failed log-in is noted with its peer; a successful one, or none, is not', async () => {
  const { url, noted } = await serve([shownTarget()], { auth: AUTH })
  expect((await fetch(`${url}/metrics`)).status).toBe(401)
  expect((await fetch(`${url}/metrics`, { headers: basic() })).status).toBe(200)
  expect(noted).toEqual([])
  expect((await fetch(`${url}/metrics`, { headers: basic({ ...AUTH, password: 'wrong' }) })).status).toBe(401)
  expect(noted).toEqual([{ kind: 'login failed', peer: '127.0.0.1', refused: false }])
})

test('a right password is never refused or delayed by a flood of wrong ones from its address, which are', async () => {
  const { url, noted } = await serve([shownTarget()], { auth: AUTH })
  const statuses = new Map<number, number>()
  const scraped = new AbortController()
  const flood = async (client: number) => {
    for (let i = 0; !scraped.signal.aborted; i++) {
      const { status } = await fetch(`${url}/metrics`, {
        headers: basic({ ...AUTH, password: `${client} ${i}` }),
        signal: scraped.signal,
      })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  const floods = Array.from({ length: 50 }, (_, client) => flood(client).catch(() => undefined))
  await vi.waitFor(() => expect(statuses.get(429)).toBeGreaterThan(100), 10_000)
  // A delay of the first would be five seconds by now, and the others would be refused meanwhile.
  const scrapes = await Promise.all(
    Array.from({ length: 24 }, async (_, i) => {
      await vi.waitFor(() => expect(statuses.get(429)).toBeGreaterThan(100 + i * 20), 10_000)
      return (await fetch(`${url}/metrics`, { headers: basic() })).status
    }),
  )
  scraped.abort()
  await Promise.all(floods)
  expect(scrapes).toEqual(Array.from({ length: 24 }, () => 200))
  expect(new Set(statuses.keys())).toEqual(new Set([401, 429]))
  expect(statuses.get(401)).toBeLessThan(10)
  expect(noted.length).toBeGreaterThan(500)
})

test('a right password does not wait while a wrong one does, and a parallel wrong one gets 429 with Retry-After', async () => {
  const app = fastify()
  onTestFinished(() => app.close())
  const clock = virtualClock()
  const noted: WebEvent[] = []
  answerErrors(app)
  await authenticate(app, { auth: () => AUTH, onEvent: (event) => void noted.push(event), clock })
  app.get('/metrics', () => 'x')
  app.get('/healthz', () => 'ok')
  const get = async (password: string, url = '/metrics') => app.inject({ url, headers: basic({ ...AUTH, password }) })
  for (let i = 0; i < 5; i++) expect((await get(`wrong ${i}`)).statusCode).toBe(401)
  const waiting = get('wrong')
  const refused = await get('wrong, too')
  expect([refused.statusCode, refused.headers['retry-after'], refused.json()]).toEqual([
    429,
    '5',
    expect.objectContaining({ detail: 'too many log-ins have failed from this address; try again later' }),
  ])
  expect((await get(AUTH.password)).statusCode).toBe(200)
  expect((await get('wrong', '/healthz')).statusCode).toBe(200)
  await clock.advance(0.5)
  expect((await waiting).statusCode).toBe(401)
  const answers = noted.map((event) => event.kind === 'login failed' && event.refused)
  expect(answers).toEqual([false, false, false, false, false, true, false])
})
