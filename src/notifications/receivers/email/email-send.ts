import { Readable } from 'node:stream'
import { createTransport } from 'nodemailer'
import { DeliveryError } from '../../../network/delivery-error.ts'
import { plainText } from '../../../text/plain-text.ts'
import type { SendContext } from '../../receiver-type.ts'
import type { Send } from '../../receiver.ts'
import type { EmailConfig } from './email.ts'
import { emailMessage } from './email-message.ts'
import { idsOf } from './message-ids.ts'

/**
 * One delivery (seconds), the whole conversation included. Longer than one by HTTP: a mail server examines a message
 * before it accepts it, and one that is given up then was probably accepted, and arrives twice.
 */
const TIMEOUT_SECONDS = 30
/** To connect, and to be greeted (milliseconds). */
const CONNECT_TIMEOUT_MS = 10_000
const MAX_REASON_LENGTH = 200

/** What nodemailer says of a failure. */
type Failure = {
  [Key in 'code' | 'originalCode' | 'command' | 'response' | 'recipient']?: string | undefined
} & { responseCode?: number | undefined; permanent?: boolean | undefined; rejectedErrors?: Failure[] | undefined }

/**
 * Sends each message as one e-mail, by a connection of its own. If the server takes it for some recipients and asks to try
 * again for others, the next attempt is only for these.
 */
export function emailSend(config: EmailConfig, { clock, name }: SendContext): Send {
  const { to, from, host, port, tls, username, password, dashboardUrl } = config
  const options = {
    host,
    port,
    secure: tls === 'tls',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    // Also where the server offers no login: it must not accept the message from nobody instead.
    ...(username !== undefined && { auth: { user: username, pass: password ?? '' }, forceAuth: true }),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  /** The message that only some recipients have, those that may get it yet, and those that were refused for good. */
  let partly: { id: string; to: readonly string[]; refused: readonly Failure[] } | undefined

  return async (message) => {
    const now = clock.wall()
    const { id, references } = idsOf(message, { receiver: name, domain: from.slice(from.lastIndexOf('@') + 1) })
    const rest = partly?.id === id ? partly : { to, refused: [] }
    const late = new AbortController()
    const giveUp = clock.scheduler.schedule(() => late.abort(), TIMEOUT_SECONDS * 1000)
    const progress = { isSending: false }
    const transport = createTransport(options)
    transport.use('stream', (mail, done) => {
      mail.message.processFunc((input) => Readable.from(noted(input, progress)))
      done()
    })
    let missing: readonly Failure[] = []
    try {
      const { rejectedErrors = [] } = await transport.sendMail({
        from: { name: 'callwatch', address: from },
        to: [...to],
        envelope: { from, to: [...rest.to] },
        messageId: id,
        ...(references.length > 0 && { references: [...references], inReplyTo: references[0] }),
        date: new Date(now * 1000),
        headers: { 'Auto-Submitted': 'auto-generated' },
        ...emailMessage(message, { now, dashboardUrl }),
        signal: late.signal,
      })
      missing = rejectedErrors
    } catch (error) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all its errors have this form, every field being optional
      throw deliveryError(error as Failure, { isLate: late.signal.aborted, ...progress })
    } finally {
      giveUp.unsubscribe()
    }
    const { later = [], refused = [] } = Object.groupBy(missing, ({ permanent }) =>
      permanent === true ? 'refused' : 'later',
    )
    const all = [...rest.refused, ...refused]
    const retryable = later.length > 0
    partly = retryable ? { id, to: later.flatMap(({ recipient }) => recipient ?? []), refused: all } : undefined
    const others = retryable ? missing : all
    if (others.length === 0) return
    const problem = `the mail server did not accept the message for ${recipientsIn(others)}`
    throw new DeliveryError(problem, { retryable, mayHaveArrived: true })
  }
}

/** The server reads the message after it has accepted sender and recipients: the text is asked for no sooner. */
async function* noted(message: AsyncIterable<Buffer>, progress: { isSending: boolean }): AsyncGenerator<Buffer> {
  progress.isSending = true
  yield* message
}

function recipientsIn(failures: readonly Failure[]): string {
  return failures.map((failure) => `${failure.recipient}${reasonOf(failure)}`).join(', ')
}

/** A failure becomes a problem without what was sent: in the course of a login, a server may repeat the password. */
function deliveryError(error: Failure, { isLate, isSending }: { isLate: boolean; isSending: boolean }): DeliveryError {
  const { code, originalCode = code, command = '', responseCode, permanent, rejectedErrors = [] } = error
  if (isLate) {
    const problem = `the mail server did not accept the message within ${TIMEOUT_SECONDS} s`
    return new DeliveryError(problem, { retryable: true, mayHaveArrived: isSending })
  }
  if (code === 'ETLS' || responseCode === undefined) {
    const isLogin = code === 'EAUTH' || code === 'ENOAUTH'
    const what = isLogin ? 'offers no login that callwatch knows' : 'could not be reached'
    return new DeliveryError(`the mail server ${what}${originalCode === undefined ? '' : `: ${originalCode}`}`, {
      retryable: true,
      mayHaveArrived: isSending,
    })
  }
  const status = { status: responseCode }
  if (rejectedErrors.length > 0) {
    return new DeliveryError(`the mail server did not accept the message for ${recipientsIn(rejectedErrors)}`, {
      retryable: rejectedErrors.some((rejected) => rejected.permanent !== true),
      ...status,
    })
  }
  const isLogin = command.startsWith('AUTH')
  const reason = isLogin ? `: ${responseCode}` : reasonOf(error)
  if (permanent !== true) return new DeliveryError(`the mail server answered${reason}`, { retryable: true, ...status })
  const refused = isLogin ? 'the login' : 'the message'
  return new DeliveryError(`the mail server refused ${refused}${reason}`, { retryable: false, ...status })
}

/** Its answer on one line, such as `: 550 no such user`. */
function reasonOf({ response = '' }: Failure): string {
  const line = plainText(response.toWellFormed()).replaceAll(/\s+/g, ' ').trim().slice(0, MAX_REASON_LENGTH)
  return line === '' ? '' : `: ${line}`
}
