import type { Agent, Dispatcher } from 'undici'
import { readRetryAfter } from '../clock/http-time.ts'
import type { Clock } from '../clock/clock.ts'
import { outboundAgent } from '../network/outbound-agent.ts'
import { DeliveryError } from './notifier.ts'

/** One delivery, the whole answer included (seconds). Less than a daemon that is to stop may wait. */
const TIMEOUT = 8

/** Failures before anything was sent: of names, routes, connections, TLS and certificates. */
const UNCONNECTED =
  /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|(ERR_SSL|ERR_TLS|CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)_\w+)$/
/** A connection that is not made by then (milliseconds) will not be: less than a delivery may take, to tell the two apart. */
const CONNECT_TIMEOUT_MS = 4000
const GATEWAY_TIMEOUT = 504

/** Connections to a recipient's address, through a proxy where one is set. */
export function outwardAgent(address: string, options: Agent.Options = {}): Dispatcher {
  return outboundAgent(address, { ...options, connect: { timeout: CONNECT_TIMEOUT_MS } })
}

/** What an answer says of the delivery, beside its body. */
export type Answer = { status: number; retryAfter: number | undefined }

/**
 * One attempt to deliver something by HTTP, given up after 8 s. What goes wrong becomes a {@link DeliveryError} that may
 * be sent again and names neither the address nor what was sent: errors of `fetch` hold both.
 *
 * @param receiver who is sent to, as the error names it
 */
export async function attempt(
  receiver: string,
  clock: Clock,
  send: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const timeout = new AbortController()
  const patience = clock.scheduler.schedule(() => timeout.abort(), TIMEOUT * 1000)
  try {
    await send(timeout.signal)
  } catch (error) {
    if (error instanceof DeliveryError) throw error
    if (timeout.signal.aborted) {
      throw new DeliveryError(`${receiver} did not answer within ${TIMEOUT} s`, {
        retryable: true,
        mayHaveArrived: true,
      })
    }
    const code = innermostCode(error)
    throw new DeliveryError(`${receiver} could not be reached${code === undefined ? '' : `: ${code}`}`, {
      retryable: true,
      mayHaveArrived: code === undefined || !UNCONNECTED.test(code),
    })
  } finally {
    patience.unsubscribe()
  }
}

/** What an answer other than 2xx means: 429 and 5xx may go away, anything else was refused for good. */
export function refusal(receiver: string, { status, retryAfter }: Answer, said = ''): DeliveryError {
  const because = said === '' ? '' : ` (${said})`
  if (status === 429 || status >= 500) {
    const problem = `${receiver} answered ${status}${because}`
    return new DeliveryError(problem, { retryable: true, retryAfter, mayHaveArrived: status === GATEWAY_TIMEOUT })
  }
  return new DeliveryError(`${receiver} refused the message with ${status}${because}`, { retryable: false })
}

/** The Retry-After of an answer, in seconds from now. */
export function retryAfterOf(headers: { get: (name: string) => string | null }, clock: Clock): number | undefined {
  return readRetryAfter(headers.get('retry-after') ?? undefined, clock.wall())
}

/** The code alone (`ENOTFOUND`, a TLS code): an error's message may hold the address. */
function innermostCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return innermostCode(error instanceof AggregateError ? error.errors[0] : error.cause) ?? code
}
