import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import type { Random } from '../../../src/simulator/random.ts'
import { parseMap } from '../../../src/schema/path.ts'
import type { PastAlert } from '../../../src/views/alert.ts'
import { compareMessages } from './compare-messages.ts'
import { row, type Row } from './promise-rows.ts'

/** The receivers of the other kinds: two bots of Slack with one token, which edit their messages, mail, and an Alertmanager. */
export type FailingOthers = {
  /** Items of `notify.receivers`. */
  section: string
  /** How many messages each has accepted, and how often it has failed. */
  accepted: ReadonlyMap<string, number>
  failed: ReadonlyMap<string, number>
  /** How many messages have come. */
  messages: () => number
  /**
   * The alerts that Alertmanager holds now, of those that were posted since all accept everything. An end before that may be known to
   * a daemon alone that was killed: then the alert resolves by its `endsAt`, minutes later.
   */
  held: () => string[]
  /** From now on they accept everything. */
  heal: () => void
  close: () => void
}

/** A request of so many fails. */
const FAILURES = 0.3
/** Slack limits the bot, forbids to edit a message, or a person has deleted it. */
const REFUSALS: Readonly<Record<string, readonly string[]>> = {
  'chat.postMessage': ['rate_limited'],
  'chat.update': ['rate_limited', 'edit_window_closed', 'message_not_found'],
}

type Posted = { ts: string; text: unknown; metadata: unknown }
type AlertmanagerAlert = { labels: Record<string, string>; endsAt: string }

export async function failingOthers(draw: Random): Promise<FailingOthers> {
  const [accepted, failed] = [new Map<string, number>(), new Map<string, number>()]
  const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  let isHealed = false
  const fails = (name: string): boolean => {
    const isFailing = !isHealed && draw() < FAILURES
    count(isFailing ? failed : accepted, name)
    return isFailing
  }
  const posts: Posted[] = []
  const held = new Map<string, { endsAt: string; isHealed: boolean }>()

  const slack: Record<string, (body: Record<string, unknown>) => object> = {
    'chat.postMessage': ({ text, metadata }) => {
      const ts = `${Math.floor(Date.now() / 1000)}.${String(posts.length).padStart(6, '0')}`
      posts.push({ ts, text, metadata })
      return { ok: true, ts }
    },
    'chat.update': ({ ts }) => ({ ok: true, ts }),
    'conversations.history': ({ oldest }) => ({
      ok: true,
      messages: posts.filter(({ ts }) => Number(ts) >= Number(oldest)).toReversed(),
    }),
  }

  /** It fails with an answer, perhaps a refusal with status 200, or does what it was asked and loses the answer. */
  function handle(name: string, response: ServerResponse, does: () => object, refusals: readonly string[] = []): void {
    if (!fails(name)) return void response.end(JSON.stringify(does()))
    const [drawn, refusal] = [draw(), refusals[Math.floor(draw() * refusals.length)]]
    if (refusal !== undefined && drawn < 0.4) response.end(JSON.stringify({ ok: false, error: refusal }))
    else if (drawn < 0.7) response.writeHead(503).end()
    else {
      does()
      response.destroy()
    }
  }

  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const method = request.url?.split('/').at(-1) ?? ''
      if (method !== 'alerts')
        return handle('bot', response, () => slack[method]?.(parseMap(body) ?? {}) ?? { ok: false }, REFUSALS[method])
      return handle('alertmanager', response, () => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own daemon sends
        for (const { labels, endsAt } of JSON.parse(body) as AlertmanagerAlert[])
          held.set(JSON.stringify(labels), { endsAt, isHealed })
        return {}
      })
    })
  }).listen(0, '127.0.0.1')
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 1,
    onData: (stream, _session, done) => {
      stream.resume()
      stream.once('end', () => done(fails('mail') ? Object.assign(new Error('not now'), { responseCode: 451 }) : null))
    },
  })
  // What a daemon that is killed does to its connection is no failure of the server.
  smtp.on('error', () => undefined)
  smtp.listen(0, '127.0.0.1')
  await Promise.all([once(server, 'listening'), once(smtp.server, 'listening')])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they listen on a port
  const [web, mail] = [server, smtp.server].map((one) => (one.address() as AddressInfo).port)
  const url = `http://127.0.0.1:${web}`
  return {
    section: [
      `{ name: bot, slack: { token: xoxb-chaos, channel: C0CHAOS, api_url: '${url}' } }`,
      `{ name: other-bot, slack: { token: xoxb-chaos, channel: C0OTHER, api_url: '${url}' } }`,
      `{ name: mail, email: { to: [on-call@callwatch.test], from: callwatch@callwatch.test, host: 127.0.0.1, port: ${mail}, tls: none } }`,
      `{ name: alertmanager, alertmanager: { url: '${url}' } }`,
    ].join(', '),
    accepted,
    failed,
    messages: () => posts.length + (accepted.get('mail') ?? 0) + (failed.get('mail') ?? 0),
    held: () =>
      [...held].flatMap(([labels, last]) => (last.isHealed && Date.parse(last.endsAt) > Date.now() ? labels : [])),
    heal: () => (isHealed = true),
    close: () => {
      server.closeAllConnections()
      server.close()
      smtp.close()
    },
  }
}

/** Each alert that fired is noted as notified, Alertmanager holds none of those that it got lately, and each of them has failed and accepted. */
export function othersRow({ accepted, failed, held }: FailingOthers, episodes: readonly PastAlert[]): Row {
  const names = ['bot', 'mail', 'alertmanager']
  const problems = [
    ...['bot', 'other-bot', 'mail'].flatMap((name) => compareMessages([], episodes, name).problems),
    ...held().map((labels) => `Alertmanager holds ${labels}`),
    ...names.flatMap((name) => (accepted.has(name) && failed.has(name) ? [] : `${name} was not tried`)),
  ]
  const figures = names.map((name) => `${name} ${accepted.get(name) ?? 0} and ${failed.get(name) ?? 0} failed`)
  return row('receivers of the other kinds are notified of all', figures.join(', '), problems.length === 0, problems)
}
