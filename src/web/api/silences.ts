import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'
import { MAX_SILENCE_SECONDS, unknownIn, type KnownNames, type Silence } from '../../alerts/match.ts'
import type { AlertMatch } from '../../alerts/match-keys.ts'
import { isoTime } from '../../clock/iso-time.ts'
import { MOMENT_IN_UTC, readMoment } from '../../history/moment.ts'
import { parseDuration } from '../../schema/duration-text.ts'
import type { Store } from '../../store/store.ts'
import type { Credentials, WebEvent } from '../authentication.ts'
import { api, type RouteDescription } from './route.ts'
import { alertMatch, givenIn } from './match-parameters.ts'
import { BadRequest, sendProblem } from '../problem.ts'

export type SilencesRouteOptions = {
  store: Pick<Store, 'silences' | 'addSilence' | 'editSilence' | 'expireSilence'>
  /** The host's clock (UNIX seconds). */
  wall: () => number
  /** The user that can change silences. Without authentication they are read-only: a client could suppress notifications. */
  changedBy: Pick<Credentials, 'username'> | undefined
  onEvent: (event: WebEvent) => void
  /** The targets and rules that a silence can match. */
  known: () => KnownNames
}

/** `/api/v1/silences`: GET lists silences, POST adds one (docs/webhook.md), PATCH edits one, DELETE expires one. */
export function silencesRoute(app: FastifyInstance, options: SilencesRouteOptions): void {
  const { store, wall, changedBy, onEvent, known } = options
  const routes = api(app)
  const listing: RouteDescription = {
    summary: 'Active silences, and with `since` those that expired since then',
    answers: { 200: 'Silences' },
  }
  const adding: RouteDescription = { summary: 'Add a silence; needs http.auth', answers: { 201: 'Silence' } }
  const editing: RouteDescription = { summary: 'Edit an active silence; needs http.auth', answers: { 200: 'Silence' } }
  const expiring: RouteDescription = { summary: 'Expire a silence early; needs http.auth', answers: { 204: null } }
  const preValidation = async (_request: FastifyRequest, reply: FastifyReply) => {
    if (changedBy !== undefined) return undefined
    const detail = 'changing silences over HTTP needs http.auth; the command `callwatch silence` does not'
    return sendProblem(reply, 403, detail)
  }
  const user = () => changedBy?.username ?? ''
  const readOnly = changedBy === undefined ? { read_only: true as const } : {}
  routes.get(
    '/api/v1/silences',
    { schema: { querystring: listParameters }, config: listing },
    async ({ query: { since } }) => {
      const now = wall()
      const from = since === undefined ? now : Math.min(now, readMoment(since, undefined, now) ?? now)
      return { silences: (await store.silences(from)).map(silenceView), ...readOnly }
    },
  )
  routes.post(
    '/api/v1/silences',
    { schema: { body: silenceBody }, config: adding, preValidation },
    async ({ body, ip: peer }, reply) => {
      const { match, seconds, reason } = requestedSilence(body, known())
      const since = wall()
      const silence = await store.addSilence({ match, since, until: since + seconds, reason, author: user() })
      onEvent({ kind: 'silence added', peer, user: user(), silence })
      return reply.code(201).send(silenceView(silence))
    },
  )
  routes.patch(
    '/api/v1/silences/:id',
    { schema: { params: silencePath, body: editBody }, config: editing, preValidation },
    async ({ params: { id }, body, ip: peer }, reply) => {
      const now = wall()
      const before = (await store.silences(now)).find((silence) => String(silence.id) === id)
      if (before === undefined) return sendProblem(reply, 404, `there is no active silence ${id}`)
      const { edits = 0 } = before
      const isOther = body.match !== undefined || body.all !== undefined
      const silence: Silence = {
        ...before,
        edits: edits + 1,
        reason: body.reason ?? before.reason,
        until: body.for === undefined ? before.until : now + body.for,
        match: isOther ? requestedMatch(body, known()) : before.match,
      }
      if ((body.edits ?? edits) !== edits || !(await store.editSilence(silence, now)))
        return sendProblem(reply, 409, `silence ${id} was changed meanwhile; read it again, then edit it`)
      onEvent({ kind: 'silence edited', peer, user: user(), silence })
      return silenceView(silence)
    },
  )
  routes.delete(
    '/api/v1/silences/:id',
    { schema: { params: silencePath }, config: expiring, preValidation },
    async ({ params, ip: peer }, reply) => {
      const id = Number(params.id)
      const found = /^\d{1,15}$/.test(params.id) && (await store.expireSilence(id, wall()))
      if (!found) return sendProblem(reply, 404, `there is no active silence ${params.id}`)
      onEvent({ kind: 'silence expired', peer, user: user(), id })
      return reply.code(204).send()
    },
  )
}

export type SilenceView = ReturnType<typeof silenceView>

export function silenceView({ id, match, since, until, reason, author, edits = 0 }: Silence) {
  const known = author === undefined ? {} : { author }
  return { id, match, since: isoTime(since), until: isoTime(until), reason, ...known, edits }
}

const silencePath = z.strictObject({ id: z.string().describe('Its number') })

const listParameters = z.strictObject({
  since: z
    .string()
    .refine((text) => readMoment(text, undefined, 0) !== undefined, `must be ${MOMENT_IN_UTC}`)
    .optional()
    .describe('Also those that expired since then, such as 7d'),
})

const duration = z
  .string({ error: 'expected a duration such as "2h"' })
  .transform((text) => parseDuration(text) ?? Number.NaN)
  .refine((seconds) => seconds > 0 && seconds <= MAX_SILENCE_SECONDS, {
    error: 'expected a duration such as "30m", "2h" or "7d", above 0 and at most 366d',
  })
  .describe('Duration from now, such as 30m, 2h or 7d; at most 366d')

const reason = z.string().max(1000)

const all = z.literal(true, { error: 'expected true, or nothing' }).optional()

/** The body of a POST. */
export const silenceBody = z.strictObject({
  match: alertMatch.default({}).describe('Selects alerts: all of them must match'),
  all: all.describe('In place of `match`: every alert'),
  for: duration,
  reason: reason.default('').describe('Shown with the silence'),
})

/** The body of a PATCH: what it leaves out stays. */
const editBody = z.strictObject({
  match: alertMatch.optional().describe('In place of the match so far'),
  all: all.describe('In place of `match`: every alert'),
  for: duration.optional(),
  reason: reason.optional(),
  edits: z
    .int()
    .nonnegative()
    .optional()
    .describe('`edits` of the silence that is edited: refused with 409 if it has others'),
})

/** Which alerts to silence, for how many seconds, and why. */
export type RequestedSilence = { match: AlertMatch; seconds: number; reason: string }

/** The silence that a POST requests. */
export function requestedSilence(body: z.output<typeof silenceBody>, names: KnownNames): RequestedSilence {
  return { match: requestedMatch(body, names), seconds: body.for, reason: body.reason }
}

/**
 * A match must name what exists; a silence of every alert must say so.
 *
 * @throws {BadRequest}
 */
function requestedMatch(body: Pick<z.output<typeof editBody>, 'match' | 'all'>, names: KnownNames): AlertMatch {
  const match = givenIn(body.match ?? {})
  const isEmpty = Object.keys(match).length === 0
  if (isEmpty && body.all === undefined) {
    throw new BadRequest(
      'nothing to match; expected `match` with some of its keys, or `"all": true` to silence every alert',
    )
  }
  if (!isEmpty && body.all === true) throw new BadRequest('`all` beside a `match`; expected one of them')
  const unknown = unknownIn(match, names)
  if (unknown !== undefined) throw new BadRequest(unknown)
  return match
}
