import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { onTestFinished } from 'vitest'
import { selfSigned } from '../../../../kit/commands/self-signed.ts'

/** A mail that a server accepted. */
export type Mail = { from: string; to: string[]; raw: string; isEncrypted: boolean; user: string | undefined }

/** How a server answers; what is not given it accepts. */
export type Answers = {
  login?: (user: string, password: string) => Error | undefined
  recipient?: (address: string) => Error | undefined | Promise<undefined>
  /** After the whole message has come. */
  message?: (mail: Mail) => Error | undefined | Promise<undefined>
}

/** An error with which a server answers. */
export function refusal(responseCode: number, reason: string): Error {
  return Object.assign(new Error(reason), { responseCode })
}

/** A program makes it: once is enough. */
const certificate: { made?: ReturnType<typeof selfSigned> } = {}

/** A real SMTP server on 127.0.0.1 until the end of the test, and what it has accepted. */
export async function smtpInbox(answers: Answers = {}, options: SMTPServerOptions = {}) {
  const inbox: Mail[] = []
  const sockets = new Set<Socket>()
  const server = new SMTPServer({
    authOptional: answers.login === undefined,
    ...(certificate.made ??= selfSigned()),
    allowInsecureAuth: true,
    disableReverseLookup: true,
    closeTimeout: 1,
    onAuth: ({ username, password }, _session, done) => {
      const refused = answers.login?.(username ?? '', password ?? '')
      if (refused) done(refused)
      else done(null, { user: username ?? '' })
    },
    onRcptTo: ({ address }, _session, done) => {
      answer(done, async () => answers.recipient?.(address))
    },
    onData: (stream, { envelope, secure, user }, done) => {
      answer(done, async () => {
        const { mailFrom, rcptTo } = envelope
        const mail: Mail = {
          from: mailFrom === false || mailFrom === null ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: await text(stream),
          isEncrypted: secure,
          user: user === undefined ? undefined : String(user),
        }
        const refused = await answers.message?.(mail)
        if (refused === undefined) inbox.push(mail)
        return refused
      })
    },
    ...options,
  })
  // What a client does to its connection is no failure of the server.
  server.on('error', () => undefined)
  server.server.on('connection', (socket: Socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  onTestFinished(() => server.close())
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.server.address() as AddressInfo
  return { inbox, port, sockets }
}

function answer(done: (refused?: Error) => void, decide: () => Promise<Error | undefined>): void {
  // oxlint-disable-next-line promise/no-callback-in-promise -- the server takes callbacks
  void decide().then(done)
}

/** A header of a mail, unfolded and without encoded words; undefined where it has none. */
export function headerOf({ raw }: Pick<Mail, 'raw'>, name: string): string | undefined {
  const [head = ''] = raw.split('\r\n\r\n')
  const line = head
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .find((one) => one.toLowerCase().startsWith(`${name.toLowerCase()}:`))
  return line
    ?.slice(name.length + 1)
    .trim()
    .replaceAll(/(=\?UTF-8\?[BQ]\?[^?]*\?=)\s+(?==\?)/gi, '$1')
    .replaceAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=/gi, (_word, how: string, word: string) =>
      how.toUpperCase() === 'B' ? Buffer.from(word, 'base64').toString() : fromQuoted(word.replaceAll('_', ' ')),
    )
}

/** The text of a part, such as `text/plain`. */
export function bodyOf({ raw }: Pick<Mail, 'raw'>, type: string): string {
  const boundary = /boundary="([^"]+)"/.exec(raw)?.[1] ?? ''
  const part = raw.split(`--${boundary}`).find((one) => new RegExp(`^\\r\\nContent-Type: ${type}`).test(one)) ?? ''
  const [head = '', ...body] = part.trim().split('\r\n\r\n')
  const content = body.join('\r\n\r\n')
  if (/base64/.test(head)) return Buffer.from(content, 'base64').toString()
  return /quoted-printable/.test(head) ? fromQuoted(content.replaceAll('=\r\n', '')) : content
}

function fromQuoted(text: string): string {
  return Buffer.from(
    text.replaceAll(/=([\dA-F]{2})/g, (_code, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  ).toString()
}
