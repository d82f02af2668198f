import { isIP } from 'node:net'
import type { z } from 'zod'
import { oneByOne } from '../../../clock/one-by-one.ts'
import { isLoopback } from '../../../network/loopback.ts'
import { eachOnce, oneOf, text, wholeNumber } from '../../../schema/scalars.ts'
import { password, reportLogin } from '../../../schema/secret.ts'
import { completed, section } from '../../../schema/section.ts'
import { hashOf } from '../../hash.ts'
import type { ReceiverType } from '../../receiver.ts'

/** The usual port for each kind of connection (RFC 8314, section 7.3; RFC 5321 for a relay on this machine). */
const PORTS = { starttls: 587, tls: 465, none: 25 } as const

const emailKeys = section(
  {
    to: eachOnce(mailAddress())
      .min(1, { error: 'at least one address' })
      .describe('The addresses that get each message'),
    from: mailAddress().describe('The address that sends'),
    host: text('the name or the IP address of a mail server, without scheme and port', isHost).describe(
      'The mail server',
    ),
    tls: oneOf(['starttls', 'tls', 'none']).prefault('starttls').describe('`none`: on loopback only'),
    port: wholeNumber(1, 65_535)
      .optional()
      .describe('Its port; default: 587 with starttls, 465 with tls, 25 with none'),
    username: text('a user name').optional().describe('The user at the mail server; default: no login'),
    password: password('SMTP_PASSWORD').optional(),
  },
  ({ host, tls, username, password, password_file: file }, report) => {
    const hasPassword = password !== undefined || file !== undefined
    reportLogin(username !== undefined, hasPassword, report)
    if (tls === 'none' && typeof host === 'string' && !isLoopback(host)) {
      report(['tls'], 'found `none`, and `host` is another machine; expected `starttls` or `tls`')
    }
  },
)

const emailSection = completed(emailKeys, (given) => ({ ...given, port: given.port ?? PORTS[given.tls] })).meta({
  dependentRequired: { password: ['username'], password_file: ['username'] },
})

/** Mail servers accept few connections at once; Microsoft 365 three. */
const MOST_CONNECTIONS = 3

export type EmailConfig = z.output<typeof emailSection>

/** Sends messages to people by e-mail. Each recipient is a receiver, so that one to whom a mail is delayed delays no other. */
export const email: ReceiverType<typeof emailSection> = {
  about: 'People, by e-mail through an SMTP server',
  section: emailSection,
  create: async (config, context) => {
    const { emailSend } = await import('./email-send.ts')
    const connections = Array.from({ length: MOST_CONNECTIONS }, oneByOne)
    return config.to.map((address, position) => {
      const [send, inTurn] = [emailSend(config, position, context), connections[position % MOST_CONNECTIONS]!]
      return { key: `${context.name} ${hashOf(address)}`, send: (message) => inTurn(() => send(message)) }
    })
  },
}

/** Checked as browsers do: an address that mail servers accept without extensions and quotes. */
function mailAddress() {
  const expected = 'an e-mail address without a name, such as `ops@example.com`'
  const label = '[a-z\\d](?:[a-z\\d-]{0,61}[a-z\\d])?'
  const address = new RegExp(`^[\\w.!#$%&'*+/=?^\`{|}~-]{1,64}@${label}(?:\\.${label})*$`, 'i')
  return text(expected, (value) => value.length <= 254 && address.test(value)).meta({ pattern: '^[^@\\s]+@[^@\\s]+$' })
}

function isHost(value: string): boolean {
  return isIP(value) !== 0 || /^[a-z\d](?:[\w.-]*[a-z\d])?$/i.test(value)
}
