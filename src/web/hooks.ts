import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { unzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { isTrigger, type Hint, type WebhookTrigger } from '../ledger/hint.ts'
import { parseMap, valueAt } from '../schema/path.ts'
import { systemClock, type Clock } from '../clock/clock.ts'
import { QueryError } from '../schema/query-error.ts'
import { sendProblem } from './problem.ts'
import { digest, isSame } from './same-text.ts'

/** The place of the call's id in session events, and in ringing events. */
const ID_PLACES = [
  ['data', 'sessionId'],
  ['data', 'call', 'data', 'entities', 'on', 'entity', 'sessionid'],
]
const MAX_ID_LENGTH = 1000

/** The trigger and the hint of a webhook, if it has the id of a call; undefined if the body is not a JSON object. */
export function readWebhook(body: Buffer) {
  const tree = parseMap(body.toString())
  if (tree === undefined) return undefined
  const { trigger: name, appId } = tree
  const trigger = isTrigger(name) ? name : 'other'
  const id = ID_PLACES.map((place) => valueAt(tree, place)).find((value) => typeof value === 'string' && value !== '')
  const hint: Hint | undefined = typeof id === 'string' && id.length <= MAX_ID_LENGTH ? { id, trigger } : undefined
  return { trigger, appId: typeof appId === 'string' ? appId : undefined, hint }
}

/** The rest of the path is the target: a proxy may decode the slashes in its name. */
export const HOOK_PATH = '/hooks/*'

type HookCredentials = { username: string; password: string }

/** The outcome of a webhook. callwatch keeps nothing else of it. */
export type HookEvent = {
  target: string
  trigger: WebhookTrigger
  outcome: 'hint' | 'duplicate' | 'other_app' | 'invalid' | 'unauthorized' | 'unavailable'
}

export type HooksOptions = {
  /** The user and password of a target's webhooks, and its app where that is known; undefined if it accepts none. */
  hookOf: (target: string) => { credentials: HookCredentials; appId: string | undefined } | undefined
  /** Takes a hint to the daemon that polls the target. Rejects if no daemon can take it now. */
  onHint: (target: string, hint: Hint) => Promise<void>
  onHook: (event: HookEvent) => void
  hookClock?: Pick<Clock, 'monotonic'>
}

/** The longest body, compressed and not. */
const MAX_BYTES = 64 * 1024
/** How long a body is a duplicate if it comes again (seconds), and how many are remembered. */
const DUPLICATE_SECONDS = 60
const MAX_REMEMBERED = 10_000

const unzipped = promisify(unzip)

/**
 * Accepts webhooks of the calls service. callwatch reads only which call a body names. It answers 200 even to a trigger that it does
 * not know, because the service stops sending webhooks to an address that refuses them.
 */
export async function hooks(
  app: FastifyInstance,
  { hookOf, onHint, onHook, hookClock = systemClock }: HooksOptions,
): Promise<void> {
  // No client knows this password, so targets that accept no webhooks answer as slowly as others.
  const nobody = { username: '', password: randomBytes(32).toString('hex') }
  const bodies = new Map<string, { at: number; passing: Promise<void> }>()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BYTES }, (_request, body, done) => done(null, body))

  app.post<{ Params: { '*': string }; Body: Buffer | null }>(
    HOOK_PATH,
    {
      onRequest: async ({ params: { '*': target }, headers }, reply) => {
        const hook = hookOf(target)
        const isRight = isSame(tokenIn(headers.authorization), tokenOf(hook?.credentials ?? nobody))
        if (isRight && hook !== undefined) return undefined
        if (hook !== undefined) onHook({ target, trigger: 'other', outcome: 'unauthorized' })
        return sendProblem(reply.header('www-authenticate', 'Basic realm="hooks"'), 401, 'wrong user name or password')
      },
    },
    async ({ params: { '*': target }, headers, body }, reply) => {
      const content = await decoded(body ?? Buffer.of(), headers['content-encoding']).catch((error: unknown) => {
        onHook({ target, trigger: 'other', outcome: 'invalid' })
        throw error
      })
      const webhook = readWebhook(content)
      const { trigger = 'other', appId, hint } = webhook ?? {}
      const expected = hookOf(target)?.appId
      // A configuration may have the id as in a host name, in any case.
      const isOther = appId !== undefined && expected !== undefined && appId.toLowerCase() !== expected.toLowerCase()
      const key = `${target} ${digest(content).toString('base64')}`
      const passOn = async (one: Hint): Promise<HookEvent['outcome']> => {
        const now = hookClock.monotonic()
        forgetOld(bodies, now)
        const before = bodies.get(key)
        const sent = before ?? { at: now, passing: onHint(target, one) }
        bodies.set(key, sent)
        const outcome = before === undefined ? 'hint' : 'duplicate'
        return sent.passing.then(
          () => outcome,
          () => {
            // The service sends it again.
            bodies.delete(key)
            return 'unavailable'
          },
        )
      }
      const outcome = isOther ? 'other_app' : hint === undefined ? 'invalid' : await passOn(hint)
      onHook({ target, trigger, outcome })
      if (outcome === 'unavailable') return sendProblem(reply, 503, 'no daemon can take the webhook now')
      return webhook === undefined ? sendProblem(reply, 400, 'the body is not a JSON object') : reply.send()
    },
  )
}

/** The decompressed body. */
async function decoded(body: Buffer, encoding = ''): Promise<Buffer> {
  if (/^(?:identity)?$/i.test(encoding)) return body
  if (!/^(?:x-)?gzip$|^deflate$/i.test(encoding)) throw new QueryError('the body has an unknown content encoding')
  return unzipped(body, { maxOutputLength: MAX_BYTES }).catch(() => {
    throw new QueryError(`the body cannot be decompressed to ${MAX_BYTES} bytes at most`)
  })
}

/** The user and password as the Basic scheme sends them (RFC 7617). */
function tokenOf({ username, password }: HookCredentials): string {
  return Buffer.from(`${username}:${password}`).toString('base64')
}

function tokenIn(authorization = ''): string {
  return /^basic +(\S+)$/i.exec(authorization)?.[1] ?? ''
}

/**
 * Forgets what came long ago, or too much of it.
 *
 * @param seen the oldest first
 * @param now by the monotonic clock (seconds)
 */
function forgetOld(seen: Map<string, { at: number }>, now: number): void {
  for (const [key, { at }] of seen) {
    if (now - at <= DUPLICATE_SECONDS && seen.size < MAX_REMEMBERED) return
    seen.delete(key)
  }
}
