import { createServer } from 'node:net'
import { once } from 'node:events'
import { inspect } from 'node:util'
import type { SMTPServerOptions } from 'smtp-server'
import { describe, expect, test, vi } from 'vitest'
import type { DeliveryError } from '../../../src/network/delivery-error.ts'
import type { EmailConfig } from '../../../src/notifications/receivers/email/email.ts'
import { emailSend } from '../../../src/notifications/receivers/email/email-send.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { failure as failureOf, SECRET } from '../../kit/notifications/receiver.ts'
import { AT, FIRING, messageOf, REMINDER } from '../../kit/notifications/sample.ts'
import {
  bodyOf,
  headerOf,
  refusal,
  smtpInbox,
  type Answers,
} from '../../unit/notifications/receivers/email/smtp-inbox.ts'

const TO = ['ops@example.com', 'oncall@example.com']

/** A sender to the first of two recipients at this port. */
function sender(port: number, config: Partial<EmailConfig> = {}) {
  const clock = virtualClock(AT)
  const all: EmailConfig = { to: TO, from: 'callwatch@example.com', host: '127.0.0.1', port, tls: 'none', ...config }
  return { clock, send: emailSend(all, 0, { clock, name: 'ops' }) }
}

/** Why a delivery failed; nothing of it may hold the login. */
async function failure(delivery: Promise<void>): Promise<Partial<DeliveryError>> {
  const error = await failureOf(delivery)
  const login = Buffer.from(`\0ann\0${SECRET}`).toString('base64')
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(login)
  const { message, retryable, mayHaveArrived } = error
  return { message, retryable, mayHaveArrived }
}

describe('an e-mail', () => {
  test('has the subject of its incident, the state in its first line, plain text and HTML, and says that no person sent it', async () => {
    const { inbox, port } = await smtpInbox()
    await sender(port).send(messageOf([FIRING]))
    const [mail] = inbox
    expect(mail).toMatchObject({ from: 'callwatch@example.com', to: [TO[0]], isEncrypted: false })
    expect(headerOf(mail!, 'Subject')).toBe('callwatch: production')
    expect(bodyOf(mail!, 'text/plain')).toMatch(
      /^\[firing\] critical HighFailureRate on production: 17 of 40 calls .*, above the threshold of 30%\r?\n/,
    )
    expect(headerOf(mail!, 'From')).toBe('callwatch <callwatch@example.com>')
    expect(headerOf(mail!, 'To')).toBe('ops@example.com, oncall@example.com')
    expect(headerOf(mail!, 'Auto-Submitted')).toBe('auto-generated')
    expect(headerOf(mail!, 'Date')).toBe('Fri, 20 Nov 2026 08:15:30 +0000')
    expect(bodyOf(mail!, 'text/plain')).toContain('Top contributor: type video: 14 of 17 failures')
    expect(bodyOf(mail!, 'text/html')).toContain('<a href="https://runbooks.test/failures">Runbook</a>')
  })

  test('is in one thread with all others on one firing of its alert, and not with those on the next', async () => {
    const { inbox, port } = await smtpInbox()
    const { send } = sender(port)
    const later = { ...FIRING, kind: 'resolved' as const, at: FIRING.at + 900 }
    const other = { ...FIRING, key: 'Other', alert: 'Other' }
    await send(messageOf([FIRING, other]))
    await send(messageOf([{ ...REMINDER, firingSince: FIRING.firingSince, at: FIRING.at + 600 }]))
    await send(messageOf([later]))
    await send(messageOf([{ ...FIRING, firingSince: AT + 3600, at: AT + 3600 }], { id: 'another incident' }))
    const references = inbox.map((mail) => headerOf(mail, 'References')?.split(' ') ?? [])
    expect(references.map(({ length }) => length)).toEqual([3, 2, 2, 2])
    expect(references[0]).toContain(references[1]![0])
    expect(references[2]).toEqual(references[1])
    expect(references[3]).not.toEqual(references[1])
    const ids = inbox.map((mail) => headerOf(mail, 'Message-ID'))
    expect(new Set(ids).size).toBe(4)
    expect(ids.every((id) => /^<[\da-f]{32}@example\.com>$/.test(id ?? ''))).toBe(true)
  })

  test('has the same Message-ID at another attempt, with the value as it is by then', async () => {
    let attempts = 0
    const ids: (string | undefined)[] = []
    const { inbox, port } = await smtpInbox({
      message: (mail) => {
        ids.push(headerOf(mail, 'Message-ID'))
        return ++attempts === 1 ? refusal(451, 'busy') : undefined
      },
    })
    const { send } = sender(port)
    await failure(send(messageOf([FIRING])))
    await send(messageOf([{ ...FIRING, value: 0.5 }]))
    expect(inbox).toHaveLength(1)
    expect(ids[1]).toBe(ids[0])
  })
})

describe('the connection', () => {
  test('greets with the domain of the sender, or with the configured name, which strict servers require', async () => {
    const greetings: string[] = []
    const { inbox, port } = await smtpInbox(
      {},
      {
        onMailFrom: (_address, { hostNameAppearsAs: name }, done) => {
          greetings.push(name)
          done(name.startsWith('[') ? refusal(550, 'no literal') : null)
        },
      },
    )
    await sender(port).send(messageOf([FIRING]))
    expect(greetings).toEqual(['example.com'])
    expect(inbox).toHaveLength(1)
  })

  test.each<[string, SMTPServerOptions, EmailConfig['tls']]>([
    ['offers no STARTTLS', { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] }, 'starttls'],
    ['has a certificate that nobody trusts', {}, 'starttls'],
    ['has a certificate that nobody trusts', { secure: true }, 'tls'],
  ])('gets nothing if the server %s: it is retried', async (_what, options, tls) => {
    const logins: string[] = []
    const { inbox, port } = await smtpInbox({ login: (user) => void logins.push(user) }, options)
    const { send } = sender(port, { tls, username: 'ann', password: SECRET })
    const problem = await failure(send(messageOf([FIRING])))
    expect(problem).toMatchObject({ retryable: true, mayHaveArrived: false })
    expect(problem.message).toMatch(/^the mail server could not be reached: /)
    expect([logins, inbox]).toEqual([[], []])
  })

  test('is retried where nothing listens, and where a server hangs up', async () => {
    const closed = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    await once(closed, 'listening')
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
    const { port } = closed.address() as { port: number }
    expect(await failure(sender(port).send(messageOf([FIRING])))).toMatchObject({
      retryable: true,
      mayHaveArrived: false,
    })
    await new Promise((done) => closed.close(done))
    expect(await failure(sender(port).send(messageOf([FIRING])))).toEqual({
      message: 'the mail server could not be reached: ECONNREFUSED',
      retryable: true,
      mayHaveArrived: false,
    })
  })

  test('is given up after 30 s: the message may have arrived only if it was being sent', async () => {
    const asked = { recipient: 0, message: 0 }
    const never = () => new Promise<undefined>(() => undefined)
    const slow: [keyof typeof asked, boolean][] = [
      ['recipient', false],
      ['message', true],
    ]
    for (const [what, mayHaveArrived] of slow) {
      const answers: Answers = {
        [what]: () => {
          asked[what] += 1
          return never()
        },
      }
      const { port } = await smtpInbox(answers)
      const { clock, send } = sender(port)
      const delivery = failure(send(messageOf([FIRING])))
      await vi.waitFor(() => expect(asked[what]).toBeGreaterThan(0), 5000)
      await clock.advance(29)
      await clock.advance(1)
      expect(await delivery).toEqual({
        message: 'the mail server did not accept the message within 30 s',
        retryable: true,
        mayHaveArrived,
      })
    }
  })

  test('that breaks off after the message leaves open whether it arrived', async () => {
    const { port, sockets } = await smtpInbox({
      message: () => {
        for (const socket of sockets) socket.destroy()
        return new Promise<undefined>(() => undefined)
      },
    })
    expect(await failure(sender(port).send(messageOf([FIRING])))).toMatchObject({
      retryable: true,
      mayHaveArrived: true,
    })
  })
})

describe('a refusal', () => {
  const login = (code: number): Answers => ({ login: () => refusal(code, `no, ${SECRET} is wrong`) })
  test.each<[string, Answers, string, boolean]>([
    [
      'of the message, for good',
      { message: () => refusal(554, 'spam') },
      'the mail server refused the message: 554 spam',
      false,
    ],
    [
      'of the message, for now',
      { message: () => refusal(451, 'greylisted') },
      'the mail server answered: 451 greylisted',
      true,
    ],
    [
      'of the recipient, for good',
      { recipient: (address) => refusal(550, `5.1.1 <${address}>: no such user`) },
      'the mail server did not accept the message for to[0]: 550 5.1.1 <…>: no such user',
      false,
    ],
    [
      'of the recipient, for now',
      { recipient: () => refusal(450, 'greylisted') },
      'the mail server did not accept the message for to[0]: 450 greylisted',
      true,
    ],
    ['of the login, for good', login(535), 'the mail server refused the login: 535', false],
    ['of the login, for now', login(454), 'the mail server answered: 454', true],
  ])('%s', async (_what, answers, message, retryable) => {
    const { inbox, port } = await smtpInbox(answers)
    const { send } = sender(port, { username: 'ann', password: SECRET })
    expect(await failure(send(messageOf([FIRING])))).toEqual({ message, retryable, mayHaveArrived: false })
    expect(inbox).toEqual([])
  })

  test('to log anybody in refuses the message: it is not sent without a login', async () => {
    const { inbox, port } = await smtpInbox({}, { disabledCommands: ['AUTH'] })
    const { send } = sender(port, { username: 'ann', password: SECRET })
    expect(await failure(send(messageOf([FIRING])))).toEqual({
      message: 'the mail server refused the login: 500',
      retryable: false,
      mayHaveArrived: false,
    })
    expect(inbox).toEqual([])
  })
})
