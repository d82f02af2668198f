import fastify from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { authenticate } from '../../src/web/authentication.ts'
import { loginAttempts } from '../../src/web/login-attempts.ts'
import type { WebEvent } from '../../src/web/authentication.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { AUTH, basic, serve, shownTarget } from './serve.ts'

describe('log-in attempts of a peer', () => {
  /** Whether an attempt is admitted, and after how many seconds. */
  async function attempted(
    attempts: ReturnType<typeof loginAttempts>,
    clock: ReturnType<typeof virtualClock>,
    peer: string,
  ) {
    const begun = clock.monotonic()
    const admitting = attempts.admit(peer)
    const pending = Symbol('pending')
    let admitted: boolean | symbol = pending
    do {
      await clock.advance(0.1)
      admitted = await Promise.race([admitting, Promise.resolve(pending)])
    } while (admitted === pending)
    return [admitted, Math.round((clock.monotonic() - begun) * 10) / 10]
  }

  test('wait from the fifth failure on, for up to five seconds, until a minute passes without a failure', async () => {
    const clock = virtualClock()
    const attempts = loginAttempts(clock)
    const waits: unknown[] = []
    for (let i = 0; i < 11; i++) {
      waits.push((await attempted(attempts, clock, '10.0.0.1'))[1])
      attempts.failed('10.0.0.1', `guess ${i}`)
    }
    expect(waits).toEqual([0.1, 0.1, 0.1, 0.1, 0.1, 0.5, 1, 2, 4, 5, 5])
    expect(await attempted(attempts, clock, '10.0.0.2')).toEqual([true, 0.1])
    await clock.advance(61)
    expect(await attempted(attempts, clock, '10.0.0.1')).toEqual([true, 0.1])
  })

  test('wait one at a time: parallel attempts are refused', async () => {
    const clock = virtualClock()
    const attempts = loginAttempts(clock)
    for (let i = 0; i < 5; i++) attempts.failed('10.0.0.1', `guess ${i}`)
    const waiting = attempts.admit('10.0.0.1')
    expect(await attempts.admit('10.0.0.1')).toBe(false)
    attempts.failed('10.0.0.1', 'another guess')
    await clock.advance(0.5)
    expect(await waiting).toBe(true)
    const next = attempts.admit('10.0.0.1')
    await clock.advance(1)
    expect(await next).toBe(true)
  })

  test('do not wait after the same wrong password again and again, which guesses nothing', async () => {
    const clock = virtualClock()
    const attempts = loginAttempts(clock)
    for (let i = 0; i < 100; i++) {
      attempts.failed('10.0.0.1', 'the password of last year')
      await clock.advance(10)
    }
    for (let i = 0; i < 3; i++) attempts.failed('10.0.0.1', `guess ${i}`)
    expect(await attempted(attempts, clock, '10.0.0.1')).toEqual([true, 0.1])
    attempts.failed('10.0.0.1', 'guess 5')
    expect(await attempted(attempts, clock, '10.0.0.1')).toEqual([true, 0.5])
  })

  test.each([
    { peers: (i: number) => `2001:db8::${i}`, same: '2001:db8:0:0:1:2:3:4', other: '2001:db8:0:1::1' },
    { peers: (i: number) => `fe80::${i}%eth0`, same: 'fe80::ffff%eth0', other: 'fe80:0:0:1::1%eth0' },
  ])('from $same count for its whole /64, and not for $other', async ({ peers, same, other }) => {
    const attempts = loginAttempts(virtualClock())
    for (let i = 0; i < 5; i++) attempts.failed(peers(i), `guess ${i}`)
    void attempts.admit(same)
    expect(await attempts.admit(peers(9))).toBe(false)
    expect(await attempts.admit(other)).toBe(true)
  })

  test('from an IPv4-mapped IPv6 address count for that address alone', async () => {
    const attempts = loginAttempts(virtualClock())
    for (let i = 0; i < 5; i++) attempts.failed('::ffff:10.0.0.1', `guess ${i}`)
    void attempts.admit('::ffff:10.0.0.1')
    expect(await attempts.admit('::ffff:10.0.0.1')).toBe(false)
    expect(await attempts.admit('::ffff:10.0.0.2')).toBe(true)
  })

  test('are evicted after ten thousand later peers have failed', async () => {
    const attempts = loginAttempts(virtualClock())
    for (let i = 0; i < 5; i++) attempts.failed('the first', `guess ${i}`)
    for (let i = 0; i < 10_000; i++) attempts.failed(`10.${i >> 8}.${i & 255}.1`, 'guess')
    expect(await attempts.admit('the first')).toBe(true)
  })
})

test('a failed log-in is noted with its peer; a successful one, or none, is not', async () => {
  const { url, noted } = await serve([shownTarget()], { auth: AUTH })
  expect((await fetch(`${url}/metrics`)).status).toBe(401)
  expect((await fetch(`${url}/metrics`, { headers: basic() })).status).toBe(200)
  expect(noted).toEqual([])
  expect((await fetch(`${url}/metrics`, { headers: basic({ ...AUTH, password: 'wrong' }) })).status).toBe(401)
  expect(noted).toEqual([{ kind: 'login failed', peer: '127.0.0.1' }])
})

/** A server with authentication on a virtual clock, and its client. */
async function guarded(credentials = { ...AUTH }) {
  const app = fastify()
  onTestFinished(() => app.close())
  const clock = virtualClock()
  const noted: WebEvent[] = []
  await authenticate(app, { credentials, onEvent: (event) => void noted.push(event), clock })
  app.get('/metrics', () => 'x')
  app.get('/healthz', () => 'ok')
  const get = async (password: string, { url = '/metrics', cookie = '' } = {}) =>
    app.inject({ url, headers: { ...basic({ ...AUTH, password }), cookie } })
  /** Guesses as often as it causes no delay. */
  const guess = async () => {
    for (let i = 0; i < 5; i++) expect((await get(`wrong ${i}`)).statusCode).toBe(401)
  }
  return { clock, noted, get, guess }
}

test('after guesses even the right password waits, and a parallel attempt gets 429 with Retry-After', async () => {
  const { clock, noted, get, guess } = await guarded()
  await guess()
  const waiting = get(AUTH.password)
  const refused = await get('wrong')
  expect([refused.statusCode, refused.headers['retry-after'], refused.json()]).toEqual([
    429,
    '5',
    expect.objectContaining({ detail: 'too many log-ins have failed from this address; try again later' }),
  ])
  expect((await get('wrong', { url: '/healthz' })).statusCode).toBe(200)
  await clock.advance(0.5)
  expect((await waiting).statusCode).toBe(200)
  expect(noted).toHaveLength(5)
})

describe('a browser that has logged in', () => {
  const cookieOf = ({ headers }: { headers: Record<string, unknown> }) => String(headers['set-cookie']).split(';')[0]!

  test('does not wait after failures of others at its address, and loads all files of the page at once', async () => {
    const { get, guess } = await guarded()
    const first = await get(AUTH.password)
    expect(first.headers['set-cookie']).toMatch(/^callwatch-\w+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)
    const cookie = `other=1; ${cookieOf(first)}`
    await guess()
    const parts = await Promise.all(Array.from({ length: 20 }, () => get(AUTH.password, { cookie })))
    for (const part of parts) expect([part.statusCode, part.headers['set-cookie']]).toEqual([200, undefined])
  })

  test('still needs its password', async () => {
    const { get, noted } = await guarded()
    const cookie = cookieOf(await get(AUTH.password))
    expect((await get('wrong', { cookie })).statusCode).toBe(401)
    expect(noted).toEqual([{ kind: 'login failed', peer: '127.0.0.1' }])
  })

  test.each(['the password changes', 'the daemon restarts'])('waits like others once %s', async (why) => {
    const credentials = { ...AUTH }
    const before = await guarded(credentials)
    const cookie = cookieOf(await before.get(AUTH.password))
    if (why === 'the password changes') credentials.password = 'another password'
    const { clock, get, guess } = why === 'the password changes' ? before : await guarded()
    await guess()
    const waiting = get('wrong', { cookie })
    expect((await get('wrong', { cookie })).statusCode).toBe(429)
    await clock.advance(0.5)
    expect((await waiting).statusCode).toBe(401)
  })
})
