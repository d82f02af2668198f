import { lastValueFrom } from 'rxjs'
import { describe, expect, test } from 'vitest'
import { requestWithRetries, type RequestRecord } from '../../../src/polling/request-with-retries.ts'
import { UNLIMITED, type RateLimiter } from '../../../src/polling/rate-limiter.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'

const never = () => new Promise<never>(() => undefined)

/** Makes one request; `answers` are those to its attempts, and the last one repeats. */
function asking(answers: ((signal: AbortSignal) => Promise<string>)[], retries = 4) {
  const clock = virtualClock()
  const records: RequestRecord[] = []
  const attempts: number[] = []
  const pauses: number[] = []
  const rateLimiter: RateLimiter = {
    ...UNLIMITED,
    pause: (seconds) => pauses.push(seconds),
  }
  const request = (signal: AbortSignal) => {
    const answer = answers[Math.min(attempts.length, answers.length - 1)]!
    attempts.push(clock.monotonic())
    return answer(signal)
  }
  const onRequest = (record: RequestRecord) => void records.push(record)
  const outcome = { value: undefined as string | undefined, error: undefined as ServiceError | undefined }
  const options = { clock, rateLimiter, timeout: 10, retries, random: () => 1, onRequest }
  const subscription = requestWithRetries('list_calls', request, options).subscribe({
    next: (value) => (outcome.value = value),
    error: (error: ServiceError) => (outcome.error = error),
  })
  return { clock, records, attempts, pauses, outcome, subscription }
}

const failing =
  (kind: ServiceError['kind'], details: { status?: number; retryAfter?: number } = {}) =>
  async () => {
    throw new ServiceError(kind, kind, details)
  }

describe('a request with retries', () => {
  test('records its status code when it is answered', async () => {
    const { clock, records, outcome } = asking([async () => 'page'])
    await clock.advance(0)
    expect(outcome.value).toBe('page')
    expect(records).toEqual([{ operation: 'list_calls', code: '200', seconds: 0 }])
  })

  test('waits longer and longer between attempts, up to half a minute, and fails after the last one', async () => {
    const { clock, attempts, outcome } = asking([failing('server', { status: 503 })], 8)
    await clock.advance(300)
    const waits = attempts.slice(1).map((at, i) => at - attempts[i]!)
    expect(waits).toEqual([0.5, 1, 2, 4, 8, 16, 30, 30])
    expect(outcome.error?.kind).toBe('server')
  })

  test.each(['auth', 'scope', 'app', 'plan', 'not_found', 'refused'] as const)(
    'is not repeated after the error %s',
    async (kind) => {
      const { clock, attempts, outcome } = asking([failing(kind, { status: 403 })])
      await clock.advance(300)
      expect(attempts).toHaveLength(1)
      expect(outcome.error?.kind).toBe(kind)
    },
  )

  test.each(['rate_limited', 'server', 'invalid', 'timeout', 'network'] as const)(
    'is repeated after the transient error %s',
    async (kind) => {
      const { clock, records, outcome } = asking([failing(kind, { status: 500 }), async () => 'page'])
      await clock.advance(1)
      expect(outcome.value).toBe('page')
      expect(records).toHaveLength(2)
    },
  )

  test('pauses the rate limiter for as long as Retry-After asks', async () => {
    const { clock, attempts, pauses } = asking([
      failing('rate_limited', { status: 429, retryAfter: 17 }),
      async () => 'page',
    ])
    await clock.advance(1)
    expect(pauses).toEqual([17])
    expect(attempts).toHaveLength(2)
  })

  test('pauses the rate limiter after its last attempt as well', async () => {
    const { clock, pauses } = asking([failing('rate_limited', { status: 429, retryAfter: 120 })], 0)
    await clock.advance(1)
    expect(pauses).toEqual([120])
  })

  test('is aborted, recorded as timeout and repeated if it is not answered in full in time', async () => {
    const signals: AbortSignal[] = []
    const hanging = (signal: AbortSignal) => {
      signals.push(signal)
      return never()
    }
    const { clock, records, outcome } = asking([hanging, async () => 'page'])
    await clock.advance(9.9)
    expect(signals[0]?.aborted).toBe(false)
    await clock.advance(1)
    expect(signals[0]?.aborted).toBe(true)
    expect(outcome.value).toBe('page')
    expect(records.map(({ code, seconds }) => [code, seconds])).toEqual([
      ['timeout', 10],
      ['200', 0],
    ])
  })

  test('is aborted when its result is unsubscribed', async () => {
    let aborted = false
    const { clock, subscription } = asking([
      (signal) => {
        signal.addEventListener('abort', () => (aborted = true))
        return never()
      },
    ])
    await clock.advance(1)
    subscription.unsubscribe()
    expect(aborted).toBe(true)
  })

  test('fails with an error of callwatch itself, is not repeated, and is not recorded as a request to the service', async () => {
    const bug = new TypeError('undefined is not a function')
    const broken = async () => {
      throw bug
    }
    const { clock, outcome, records } = asking([broken, async () => 'page'])
    await clock.advance(60)
    expect(outcome.error).toBe(bug)
    expect(records).toEqual([])
  })

  test('waits for the rate limiter before every attempt', async () => {
    const clock = virtualClock()
    let taken = 0
    const rateLimiter: RateLimiter = { ...UNLIMITED, take: async () => void taken++ }
    const options = { clock, rateLimiter, timeout: 1, retries: 2, random: () => 0, onRequest: () => undefined }
    const done = lastValueFrom(requestWithRetries('get_call', failing('network'), options)).catch(() => undefined)
    await clock.advance(10)
    await done
    expect(taken).toBe(3)
  })
})
