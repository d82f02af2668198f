import type { Dispatcher } from 'undici'
import type { Clock } from '../clock/clock.ts'
import { readHttpDate, readRetryAfter } from '../clock/times.ts'
import { causesOf, codeOf, ownRefusal, proxyProblem } from './error-causes.ts'
import { outboundAgent, request } from './outbound-agent.ts'
import { DeliveryError } from './delivery-error.ts'

/** The limit for one delivery, including the whole response (seconds). Less than a draining daemon may wait. */
const TIMEOUT_SECONDS = 8

/** The limit for connecting (milliseconds). Shorter than the limit for a delivery, so that the problem says which it was. */
const CONNECT_TIMEOUT_MS = 4000
const GATEWAY_TIMEOUT = 504
const MAX_UNCONFIRMED = 3
/** The pause after such an answer: three attempts take ten minutes, so that a message outlives a login page that is soon gone. */
const UNCONFIRMED_PAUSE_SECONDS = 300
/**
 * How much of a body is read (bytes). Receivers explain a refusal in a line, and a body may never end.
 */
const MAX_BYTES_READ = 16 * 1024

export type HttpReceiver = {
  /** The receiver's name in error messages, since its URL may be a secret. */
  receiver: string
  url: string
  clock: Clock
  /** How long one delivery may take, including the whole response (seconds). */
  timeout?: number
  /**
   * Whether this body of a 2xx accepts or refuses a message; undefined if it says neither, which is tried three times in a row.
   * Default: every 2xx accepts that does not refuse.
   */
  accepts?: (body: string) => boolean | undefined
  /** Why this body of a 2xx refuses a message, in words that may be shown; undefined if it does not. Default: none does. */
  refuses?: (body: string) => string | undefined
  /**
   * Extracts the part of a refusal's body that may be shown. Without it the body is not read, because it may quote the URL.
   */
  reasonIn?: (body: string) => string | undefined
  /** How much of a body is read (bytes); default: 16 kB. */
  maxBytes?: number
  /** Whether what is sent is signed with the time, which a receiver checks: a refusal says how far its clock is from the host's. */
  isDated?: boolean
}

/** What is sent; without a method, a GET. A body is JSON, if no header says otherwise. */
export type Sent = { method?: Dispatcher.HttpMethod; headers?: Readonly<Record<string, string>>; body?: string }

type Answer = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>

/** Sends one request. Resolves to the answer if the receiver accepted the message. */
type Request = (sent: Sent) => Promise<Answer>

/** Sent with each request, if it has no header of the same name. */
const HEADERS = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'callwatch' }

/**
 * Delivers to a receiver by HTTP, through a proxy if one is set. `send` makes the one request of each delivery. The request
 * is aborted after the timeout (8 s by default), or by a signal. Redirects are not followed, since the message would go to
 * another address, or be lost. Every failure becomes a {@link DeliveryError} without the URL and without what was sent;
 * errors of `fetch` contain both.
 */
export function httpSender(
  options: HttpReceiver,
): (send: (request: Request) => Promise<unknown>, signal?: AbortSignal) => Promise<void> {
  const { receiver, url, clock, timeout = TIMEOUT_SECONDS } = options
  const { origin, pathname, search } = new URL(url)
  const agent = outboundAgent(url, { connect: { timeout: CONNECT_TIMEOUT_MS }, headersTimeout: 0, bodyTimeout: 0 })
  let unconfirmed = 0
  return async (send, signal) => {
    const deadline = new AbortController()
    const giveUp = clock.scheduler.schedule(() => deadline.abort(), timeout * 1000)
    const ends = signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, signal])
    const progress = { isSending: false }
    try {
      await send(async ({ method = 'GET', headers = {}, body: sent = null }) => {
        const parts = { origin, path: pathname + search, method, headers: withDefaults(headers, sent), body: sent }
        const answer = await request(agent.compose(noting(progress)), { ...parts, signal: ends })
        const body = await bodyOf(answer, options)
        const isAccepted = isSuccess(answer) && verdictOn(body, options)
        if (isAccepted === false) throw refusal(answer, body, options)
        if (isAccepted === undefined) throw unconfirmedBy(answer, receiver, (unconfirmed += 1) < MAX_UNCONFIRMED)
        unconfirmed = 0
        return answer
      })
    } catch (error) {
      throw deliveryError(error, receiver, { ...progress, timeout: deadline.signal.aborted ? timeout : undefined })
    } finally {
      giveUp.unsubscribe()
    }
  }
}

/** Whether the body of a 2xx accepts a message; undefined if that is not clear. */
function verdictOn(body: string, { accepts, refuses }: HttpReceiver): boolean | undefined {
  const isAccepted = accepts?.(body)
  if (isAccepted !== undefined) return isAccepted
  if (refuses?.(body) !== undefined) return false
  return accepts === undefined ? true : undefined
}

/** What is read of a body: the beginning, or nothing of one that decides nothing. The body of a 2xx that only may refuse need not end. */
async function bodyOf(answer: Dispatcher.ResponseData, options: HttpReceiver): Promise<string> {
  const { accepts, refuses, reasonIn, maxBytes } = options
  const isRead = (isSuccess(answer) ? (accepts ?? refuses) : reasonIn) !== undefined
  if (isRead) return beginningOf(answer.body, isSuccess(answer) && accepts === undefined, maxBytes)
  answer.body.on('error', () => undefined).destroy()
  return ''
}

function isSuccess({ statusCode }: Answer): boolean {
  return statusCode >= 200 && statusCode < 300
}

function withDefaults(headers: Readonly<Record<string, string>>, body: string | null): Record<string, string> {
  const given = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  const defaults = Object.entries({ ...HEADERS, ...(body !== null && { 'content-type': 'application/json' }) })
  return { ...Object.fromEntries(defaults.filter(([name]) => !given.has(name))), ...headers }
}

/** Notes when the request is written to a connection to the other side. */
function noting(progress: { isSending: boolean }): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const begin = handler.onRequestStart?.bind(handler)
    handler.onRequestStart = (...given) => {
      progress.isSending = true
      begin?.(...given)
    }
    return dispatch(options, handler)
  }
}

/**
 * Another server has answered, such as a proxy that requires a login, or the receiver accepts in a form of its own. Each attempt may
 * have arrived. From the third such answer in a row on it counts as a refusal.
 */
function unconfirmedBy({ statusCode: status }: Answer, receiver: string, retryable: boolean): DeliveryError {
  const problem = `${receiver} answered ${status}, but not \`ok\`, as it does when it has accepted a message`
  const end = retryable ? '' : '; the message may have arrived, and is not sent again'
  return new DeliveryError(problem + end, {
    retryable,
    retryAfter: UNCONFIRMED_PAUSE_SECONDS,
    status,
    mayHaveArrived: true,
  })
}

/** A reason with which a 2xx refuses a message for now. */
const TEMPORARY = /rate.?limit|too many|try again|time.?out|unavailable|internal/i

/** The error for a response that does not accept the message. 3xx, 429 and 5xx are retryable; anything else is a permanent refusal. */
function refusal(answer: Answer, body: string, options: HttpReceiver): DeliveryError {
  const { receiver, clock, isDated } = options
  const { statusCode: status, headers } = answer
  const retryAfter = readRetryAfter(firstOf(headers['retry-after']), clock.wall())
  const isSuccessful = isSuccess(answer)
  const reason = reasonFor(isSuccessful, body, options)
  const because = reason === '' ? '' : ` (${reason})`
  const isRedirect = !isSuccessful && status < 400
  const retryable = isSuccessful ? TEMPORARY.test(reason) : isRedirect || status === 429 || status >= 500
  const did = retryable ? 'answered' : 'refused the message with'
  const why = isRedirect ? ', a redirect, which is not followed' : because
  const mayHaveArrived = status === GATEWAY_TIMEOUT
  const clocks = isDated === true && !retryable ? clocksText(headers['date'], clock.wall()) : ''
  return new DeliveryError(`${receiver} ${did} ${status}${why}${clocks}`, {
    retryable,
    retryAfter,
    status,
    mayHaveArrived,
  })
}

/** Which clock is ahead of the other, if they differ by half a minute: more than a request takes. */
function clocksText(date: string | string[] | undefined, now: number): string {
  const ahead = (readHttpDate(firstOf(date)) ?? now) - now
  const minutes = Math.round(Math.abs(ahead) / 60)
  if (minutes === 0) return ''
  const [first, second] = ahead > 0 ? ['its', "this host's"] : ["this host's", 'its']
  return `; ${first} clock is ${minutes} min ahead of ${second}`
}

/** Why a body refuses, in words that may be shown, perhaps none. */
function reasonFor(isSuccessful: boolean, body: string, { refuses, reasonIn }: HttpReceiver): string {
  return (isSuccessful ? refuses?.(body) : undefined) ?? reasonIn?.(body) ?? ''
}

/** A header that comes several times has all values; the first one counts. */
export function firstOf(header: string | string[] | undefined): string | undefined {
  return [header].flat()[0]
}

/** The beginning of a body as text. The rest is not read. @param mayBreak whether a body that does not come whole is no error */
async function beginningOf(body: AsyncIterable<Buffer>, mayBreak: boolean, most = MAX_BYTES_READ): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const part of body) {
      parts.push(part)
      size += part.length
      if (size >= most) break
    }
  } catch (error) {
    if (!mayBreak) throw error
  }
  return Buffer.concat(parts).toString()
}

/** @param timeout the limit that was exceeded (seconds) */
function deliveryError(
  error: unknown,
  receiver: string,
  { isSending, timeout }: { isSending: boolean; timeout: number | undefined },
): DeliveryError {
  const causes = causesOf(error)
  const own = causes.find((cause) => cause instanceof DeliveryError)
  if (own !== undefined) return own
  if (timeout !== undefined) {
    const problem = `${receiver} did not answer within ${timeout} s`
    return new DeliveryError(problem, { retryable: true, mayHaveArrived: isSending })
  }
  const proxy = proxyProblem(causes)
  const refused = proxy === undefined ? ownRefusal(causes) : undefined
  if (refused !== undefined) return new DeliveryError(`${receiver}: ${refused}`, { retryable: false })
  // Only the code (`ENOTFOUND`, a TLS code), because an error's message may contain the URL.
  const why = proxy ?? codeOf(causes)
  if (why !== undefined && /^(?:HPE_|UND_ERR_HEADERS_OVERFLOW$)/.test(why)) {
    const problem = `the answer of ${receiver} was not HTTP, or its headers were larger than 16 kB: ${why}`
    return new DeliveryError(problem, { retryable: true, mayHaveArrived: true })
  }
  return new DeliveryError(`${receiver} could not be reached${why === undefined ? '' : `: ${why}`}`, {
    retryable: true,
    mayHaveArrived: isSending && proxy === undefined,
  })
}
