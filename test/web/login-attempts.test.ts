import fastify from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { authenticate } from '../../src/web/authentication.ts'
import { loginAttempts } from '../../src/web/login-attempts.ts'
import type { WebEvent } from '../../src/web/web-event.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { serve, watchedTarget } from './serve.ts'

const CREDENTIALS = { username: 'ops', password: 'a long password' }
const basic = (password: string) => ({
  authorization: `Basic ${Buffer.from(`ops:${password}`).toString('base64')}`,
})

describe('a peer', () => {
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

  test('is slowed down from its fifth failure on, up to five seconds, until it has let it be for a minute', async () => {
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

  test('has one attempt at a time that waits: many at once are refused', async () => {
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

  test('is not slowed down by the same wrong password again and again, which guesses nothing', async () => {
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

  test('of IPv6 is its whole network', async () => {
    const attempts = loginAttempts(virtualClock())
    for (let i = 0; i < 5; i++) attempts.failed(`2001:db8::${i}`, `guess ${i}`)
    void attempts.admit('2001:db8:0:0:1:2:3:4')
    expect(await attempts.admit('2001:db8::ffff')).toBe(false)
    expect(await attempts.admit('2001:db8:0:1::1')).toBe(true)
  })

  test('is forgotten where there are ten thousand later ones', async () => {
    const attempts = loginAttempts(virtualClock())
    for (let i = 0; i < 5; i++) attempts.failed('the first', `guess ${i}`)
    for (let i = 0; i < 10_000; i++) attempts.failed(`10.${i >> 8}.${i & 255}.1`, 'guess')
    expect(await attempts.admit('the first')).toBe(true)
  })
})

test('a failed log-in is noted with its peer; none, and a good one, are not', async () => {
  const { url, noted } = await serve([watchedTarget()], [], CREDENTIALS)
  expect((await fetch(`${url}/metrics`)).status).toBe(401)
  expect((await fetch(`${url}/metrics`, { headers: basic(CREDENTIALS.password) })).status).toBe(200)
  expect(noted).toEqual([])
  expect((await fetch(`${url}/metrics`, { headers: basic('wrong') })).status).toBe(401)
  expect(noted).toEqual([{ kind: 'login failed', peer: '127.0.0.1' }])
})

/** What asks for the password on a virtual clock, and asks it. */
async function guarded(credentials = { ...CREDENTIALS }) {
  const app = fastify()
  onTestFinished(() => app.close())
  const clock = virtualClock()
  const noted: WebEvent[] = []
  await authenticate(app, { credentials, note: (event) => void noted.push(event), clock })
  app.get('/metrics', () => 'x')
  app.get('/healthz', () => 'ok')
  const get = async (password: string, { url = '/metrics', cookie = '' } = {}) =>
    app.inject({ url, headers: { ...basic(password), cookie } })
  /** As often as it costs nothing. */
  const guess = async () => {
    for (let i = 0; i < 5; i++) expect((await get(`wrong ${i}`)).statusCode).toBe(401)
  }
  return { clock, noted, get, guess }
}

test('whoever guesses waits, with the right password as well, and is told when to come back', async () => {
  const { clock, noted, get, guess } = await guarded()
  await guess()
  const waiting = get(CREDENTIALS.password)
  const refused = await get('wrong')
  expect([refused.statusCode, refused.headers['retry-after'], refused.json()]).toEqual([
    429,
    '5',
    { error: 'too many log-ins have failed from this address; try again later' },
  ])
  expect((await get('wrong', { url: '/healthz' })).statusCode).toBe(200)
  await clock.advance(0.5)
  expect((await waiting).statusCode).toBe(200)
  expect(noted).toHaveLength(5)
})

describe('a browser that has logged in', () => {
  const cookieOf = ({ headers }: { headers: Record<string, unknown> }) => String(headers['set-cookie']).split(';')[0]!

  test('is not slowed down by others at its address, and loads all parts of the page at once', async () => {
    const { get, guess } = await guarded()
    const first = await get(CREDENTIALS.password)
    expect(first.headers['set-cookie']).toMatch(/^callwatch-\w+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)
    const cookie = `other=1; ${cookieOf(first)}`
    await guess()
    const parts = await Promise.all(Array.from({ length: 20 }, () => get(CREDENTIALS.password, { cookie })))
    for (const part of parts) expect([part.statusCode, part.headers['set-cookie']]).toEqual([200, undefined])
  })

  test('needs its password all the same', async () => {
    const { get, noted } = await guarded()
    const cookie = cookieOf(await get(CREDENTIALS.password))
    expect((await get('wrong', { cookie })).statusCode).toBe(401)
    expect(noted).toEqual([{ kind: 'login failed', peer: '127.0.0.1' }])
  })

  test.each(['the password changes', 'the daemon restarts'])('is slowed down like others once %s', async (why) => {
    const credentials = { ...CREDENTIALS }
    const before = await guarded(credentials)
    const cookie = cookieOf(await before.get(CREDENTIALS.password))
    if (why === 'the password changes') credentials.password = 'another password'
    const { clock, get, guess } = why === 'the password changes' ? before : await guarded()
    await guess()
    const waiting = get('wrong', { cookie })
    expect((await get('wrong', { cookie })).statusCode).toBe(429)
    await clock.advance(0.5)
    expect((await waiting).statusCode).toBe(401)
  })
})
