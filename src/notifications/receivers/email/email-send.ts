import { Readable } from 'node:stream'
import { createTransport, type SendMailOptions } from 'nodemailer'
import type { Clock } from '../../../clock/clock.ts'
import { DeliveryError } from '../../../network/delivery-error.ts'
import { plainText } from '../../../text/plain-text.ts'
import type { SendContext, Send } from '../../receiver.ts'
import type { Message } from '../../message.ts'
import { hashOf } from '../../hash.ts'
import type { EmailConfig } from './email.ts'
import { emailMessage } from './email-message.ts'

/**
 * The limit for one delivery, including the whole conversation (seconds). It is longer than for HTTP: a mail server examines
 * a message before it accepts it. If callwatch gave up during that, the server would probably have accepted the message, and
 * get it twice.
 */
const TIMEOUT_SECONDS = 30
/** For connecting and for the server's greeting (milliseconds). */
const CONNECT_TIMEOUT_MS = 10_000
const MAX_REASON_LENGTH = 200

/** The fields of nodemailer's errors. */
type Failure = {
  [Key in 'code' | 'originalCode' | 'command' | 'response']?: string | undefined
} & { responseCode?: number | undefined; permanent?: boolean | undefined; rejectedErrors?: Failure[] | undefined }

/**
 * Sends each message as an e-mail to one of the recipients, with its own connection.
 *
 * @param position of the recipient in `to`
 */
export function emailSend(config: EmailConfig, position: number, { clock, name, timezone }: SendContext): Send<void> {
  const { to, from } = config
  const domain = domainOf(config)
  const options = connectionOf(config)
  const envelope = { from, to: [to[position]!] }

  return async (message) => {
    const now = clock.wall()
    const { id, references } = idsOf(message, { receiver: name, domain })
    const mail = {
      from: { name: 'callwatch', address: from },
      to: [...to],
      envelope,
      messageId: id,
      ...(references.length > 0 && { references: [...references], inReplyTo: references[0] }),
      date: new Date(now * 1000),
      headers: { 'Auto-Submitted': 'auto-generated' },
      ...emailMessage(message, { now, timezone }),
    }
    await attempt(mail, options, clock, `to[${position}]`)
  }
}

type Connection = ReturnType<typeof connectionOf>

/** Sends a mail. Rejects with a {@link DeliveryError}. @param recipient as a problem names the recipient */
async function attempt(mail: SendMailOptions, options: Connection, clock: Clock, recipient: string): Promise<void> {
  const deadline = new AbortController()
  const giveUp = clock.scheduler.schedule(() => deadline.abort(), TIMEOUT_SECONDS * 1000)
  const progress = { isSending: false }
  const transport = createTransport(options)
  transport.use('stream', (sent, done) => {
    sent.message.processFunc((input) => Readable.from(noted(input, progress)))
    done()
  })
  try {
    await transport.sendMail({ ...mail, signal: deadline.signal })
  } catch (error) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all its errors have this form, every field being optional
    const failure = error as Failure
    const [rejected] = failure.rejectedErrors ?? []
    if (rejected === undefined) throw deliveryError(failure, deadline.signal.aborted, progress.isSending)
    const problem = `the mail server did not accept the message for ${recipient}${reasonOf(rejected)}`
    throw new DeliveryError(problem, { retryable: rejected.permanent !== true })
  } finally {
    giveUp.unsubscribe()
  }
}

function domainOf({ from }: EmailConfig): string {
  return from.slice(from.lastIndexOf('@') + 1)
}

/** How the mail server is reached. */
function connectionOf(config: EmailConfig) {
  const { host, port, tls, username, password } = config
  return {
    host,
    // In a container the library would greet with `[127.0.0.1]`, which mail servers refuse.
    name: domainOf(config),
    port,
    secure: tls === 'tls',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    // Also if the server offers no login. Otherwise it might accept the message from an anonymous sender.
    ...(username !== undefined && { auth: { user: username, pass: password ?? '' }, forceAuth: true }),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** Notes when the server starts to read the message, which it does after it accepted sender and recipients. */
async function* noted(message: AsyncIterable<Buffer>, progress: { isSending: boolean }): AsyncGenerator<Buffer> {
  progress.isSending = true
  yield* message
}

/** Turns a failure into a problem that does not quote what was sent: during a login, a server may repeat the password. */
function deliveryError(error: Failure, isLate: boolean, isSending: boolean): DeliveryError {
  const { code = '', responseCode, command = '', permanent = false } = error
  if (isLate || code === 'ETLS' || responseCode === undefined) {
    const problem = isLate ? `did not accept the message within ${TIMEOUT_SECONDS} s` : connectionProblem(error)
    return new DeliveryError(`the mail server ${problem}`, { retryable: true, mayHaveArrived: isSending })
  }
  const isLogin = command.startsWith('AUTH')
  const did = permanent ? `refused ${isLogin ? 'the login' : 'the message'}` : 'answered'
  const problem = `the mail server ${did}${isLogin ? `: ${responseCode}` : reasonOf(error)}`
  return new DeliveryError(problem, { retryable: !permanent })
}

function connectionProblem({ code, originalCode = code }: Failure): string {
  const isLogin = code === 'EAUTH' || code === 'ENOAUTH'
  const what = isLogin ? 'offers no login that callwatch knows' : 'could not be reached'
  return originalCode === undefined ? what : `${what}: ${originalCode}`
}

/** What may be an address. API and metrics have none. */
const ADDRESS = /[^\s<>()[\]:;,"']+@[^\s<>()[\]:;,"']+/g

/** The server's answer on one line, such as `: 550 no such user`. */
function reasonOf({ response = '' }: Failure): string {
  const line = plainText(response.slice(0, 10 * MAX_REASON_LENGTH).toWellFormed())
    .replaceAll(ADDRESS, '…')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_REASON_LENGTH)
  return line === '' ? '' : `: ${line}`
}

/** A message belongs to at most this many threads, whatever the number of its alerts. */
const MAX_REFERENCES = 20

/**
 * The `Message-ID` of a message, and the threads that it belongs to. A further attempt has the same id if it is about the
 * same changes, so that a mail server that got both can drop one. All messages about an incident, and about one firing of an alert,
 * refer to the same id, which no message has. So they form one thread, whichever of them arrive.
 */
function idsOf(
  message: Message,
  { receiver, domain }: { receiver: string; domain: string },
): { id: string; references: string[] } {
  const idOf = (...parts: unknown[]) => `<${hashOf(...parts)}@${domain}>`
  switch (message.kind) {
    case 'alerts': {
      const { id, thread = id, alerts, flapped } = message
      const changes = [
        ...alerts.map(({ notification, flaps: times }) => ({ ...notification, times })),
        ...flapped.map(({ notification, times, endedAt: at }) => ({ ...notification, kind: 'flapped', at, times })),
      ]
      const content = changes.map(({ target, key, kind, at, times }) => [target, key, kind, at, times])
      const firings = changes.slice(0, MAX_REFERENCES).map(({ firingSince, target, key }) => [firingSince, target, key])
      return {
        id: idOf(receiver, ...content),
        references: [
          idOf(receiver, 'incident', thread),
          ...new Set(firings.map((firing) => idOf(receiver, ...firing))),
        ],
      }
    }
    case 'report': {
      const { report: { since, until }, setUp } = message // oxfmt-ignore
      return { id: idOf(receiver, 'report', since, until, setUp), references: [] }
    }
    default: {
      const { state, since } = message
      return { id: idOf(receiver, 'store', state, since), references: [idOf(receiver, 'store', since)] }
    }
  }
}
