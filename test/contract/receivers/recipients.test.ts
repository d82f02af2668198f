import { expect, test, vi } from 'vitest'
import { configuredReceivers, takesMessages } from '../../../src/notifications/configured-receivers.ts'
import { keyOf, type MessageReceiver } from '../../../src/notifications/receiver.ts'
import { configOf } from '../../../src/config/config.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { AT, FIRING, messageOf } from '../../kit/notifications/sample.ts'
import { bodyOf, headerOf, refusal, smtpInbox } from '../../unit/notifications/receivers/email/smtp-inbox.ts'

/** A receiver for each of these recipients. */
async function recipients(to: string[], port = 1): Promise<MessageReceiver[]> {
  const email = { to, from: 'callwatch@example.com', host: '127.0.0.1', port, tls: 'none' } as const
  const { notify } = configOf({
    targets: [{ name: 'a', base_url: 'http://127.0.0.1:1/v3', api_key: 'key' }],
    notify: { email },
  })
  const created = await configuredReceivers(notify, { clock: virtualClock(AT) })
  return created.map(({ receiver }) => receiver).filter(takesMessages)
}

const TO = ['ann@example.com', 'ben@example.com']

test('each recipient gets its own mail, which names all of them', async () => {
  const { inbox, port } = await smtpInbox()
  for (const { send } of await recipients(TO, port)) await send(messageOf([FIRING]))
  expect(inbox.map(({ to }) => to)).toEqual(TO.map((address) => [address]))
  expect(inbox.map((mail) => headerOf(mail, 'To'))).toEqual([TO.join(', '), TO.join(', ')])
  expect(new Set(inbox.map((mail) => headerOf(mail, 'Message-ID'))).size).toBe(1)
  expect(bodyOf(inbox[1]!, 'text/plain')).toMatch(/^\[firing\] critical/)
})

test('a recipient whom the server refuses keeps no other from the mail, and no problem has an address', async () => {
  const { inbox, port } = await smtpInbox({
    recipient: (address) => (address.startsWith('ben') ? refusal(550, `no such user: ${address}`) : undefined),
  })
  const [ann, ben] = await recipients(TO, port)
  await expect(ben!.send(messageOf([FIRING]))).rejects.toMatchObject({
    message: 'the mail server did not accept the message for to[1]: 550 no such user: …',
    retryable: false,
    mayHaveArrived: false,
  })
  await ann!.send(messageOf([FIRING]))
  expect(inbox.map(({ to }) => to)).toEqual([[TO[0]]])
})

test('recipients have one name, and keys without addresses that do not depend on the other recipients', async () => {
  const [before, after] = [await recipients(TO), await recipients(['eve@example.com', TO[1]!])]
  expect([...before, ...after].map(({ name }) => name)).toEqual(['email', 'email', 'email', 'email'])
  expect(keyOf(after[1]!)).toBe(keyOf(before[1]!))
  expect(new Set([...before, ...after].map(keyOf)).size).toBe(3)
  expect([...before, ...after].filter((one) => /@|ann|ben|eve/.test(keyOf(one)))).toEqual([])
})

test('at most three mails are sent at once', async () => {
  let atOnce = 0
  const release = Promise.withResolvers<undefined>()
  const { inbox, port, sockets } = await smtpInbox({
    message: async () => {
      atOnce += 1
      return release.promise
    },
  })
  const all = await recipients(
    Array.from({ length: 7 }, (_, i) => `r${i}@example.com`),
    port,
  )
  const sent = Promise.all(all.map(({ send }) => send(messageOf([FIRING]))))
  await vi.waitFor(() => expect(atOnce).toBe(3), 5000)
  expect(sockets.size).toBe(3)
  release.resolve(undefined)
  await sent
  expect(inbox).toHaveLength(7)
})
