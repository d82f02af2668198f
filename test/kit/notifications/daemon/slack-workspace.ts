import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { parseMap } from '../../../../src/schema/path.ts'
import { read } from '../receiver.ts'

/** A message in a channel, as a person sees it. Times are seconds since the start. */
export type Post = {
  at: number
  ts: string
  text: string
  /** All that it shows, as JSON. */
  blocks: string
  edits: { at: number; text: string; blocks: string }[]
  replies: { at: number; text: string; isBroadcast: boolean }[]
}

export type Call = { at: number; method: string; body: Record<string, unknown> }

/** What Slack does with a call instead: it answers this, does it and loses the answer, or loses the request. */
export type Instead = object | 'lost' | 'lostgone' | undefined

type Stored = Post & { channel: string; metadata: unknown }

export type SlackWorkspace = Awaited<ReturnType<typeof slackWorkspace>>

/** After so many calls of a method in a minute Slack answers that it is limited, whatever their channel. */
const LIMITS: Readonly<Record<string, number>> = { 'chat.update': 50 }

/** Slack's API on loopback, as far as a bot uses it. */
export async function slackWorkspace(clock: { monotonic: () => number; wall: () => number }) {
  const calls: Call[] = []
  const refused: { at: number; method: string }[] = []
  const posts: Stored[] = []
  const instead = new Map<string, (call: Call) => Instead>()
  let last = 0

  const methods: Record<string, (body: Record<string, unknown>) => object> = {
    'chat.postMessage': ({ channel, text, blocks, thread_ts: thread, reply_broadcast: broadcast, metadata }) => {
      const [at, ts] = [clock.monotonic(), `${Math.floor(clock.wall())}.${String((last += 1)).padStart(6, '0')}`]
      const root = posts.find((one) => one.ts === thread && one.channel === channel)
      const shown = { text: String(text), blocks: JSON.stringify(blocks) }
      // Where a person deleted the message, its replies are messages of the channel.
      if (root === undefined)
        posts.push({ at, ts, ...shown, edits: [], replies: [], channel: String(channel), metadata })
      else root.replies.push({ at, text: shown.text, isBroadcast: broadcast === true })
      return { ok: true, channel, ts, message: { ...(root && { thread_ts: root.ts }) } }
    },
    'chat.update': ({ channel, ts, text, blocks }) => {
      const known = posts.find((one) => one.ts === ts && one.channel === channel)
      if (known === undefined) return { ok: false, error: 'message_not_found' }
      known.edits.push({ at: clock.monotonic(), text: String(text), blocks: JSON.stringify(blocks) })
      return { ok: true, ts }
    },
    'conversations.history': ({ channel, oldest }) => {
      const own = posts.filter((one) => one.channel === channel && Number(one.ts) >= Number(oldest))
      return { ok: true, messages: own.map(({ ts, text, metadata }) => ({ ts, text, metadata })).toReversed() }
    },
  }

  function isLimited({ method, at }: Call): boolean {
    const lately = calls.filter((one) => one.method === method && one.at > at - 60)
    const limited = lately.length > (LIMITS[method] ?? Infinity)
    if (limited) refused.push({ at, method })
    return limited
  }

  function handle(call: Call, response: ServerResponse): void {
    calls.push(call)
    const other = instead.get(call.method)?.(call)
    if (other === 'lostgone') return void response.destroy()
    if (typeof other === 'object') return void response.end(JSON.stringify(other))
    if (isLimited(call)) return void response.end(JSON.stringify({ ok: false, error: 'rate_limited' }))
    const answer = methods[call.method]?.(call.body) ?? { ok: false, error: 'unknown_method' }
    if (other === 'lost') return void response.destroy()
    response.end(JSON.stringify(answer))
  }

  const server = createServer((request, response) => {
    void read(request).then(({ path, body }) => {
      handle({ at: clock.monotonic(), method: path.split('/').at(-1)!, body: parseMap(body) ?? {} }, response)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    /** The calls that were beyond a limit. */
    refused,
    /** The messages of a channel, oldest first. */
    posts: (channel: string): Post[] => posts.filter((one) => one.channel === channel),
    /** From now on Slack does this with each call of a method; undefined: what it usually does. */
    answers: (method: string, does: ((call: Call) => Instead) | undefined): void => {
      if (does === undefined) instead.delete(method)
      else instead.set(method, does)
    },
    /** A person deletes a message. */
    delete: (ts: string): void => void posts.splice(posts.findIndex((one) => one.ts === ts), 1), // oxfmt-ignore
  }
}
