import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'
import { MAX_SILENCE, MATCH_KEYS, unknownIn, type AlertMatch, type KnownNames, type Silence } from '../alerts/match.ts'
import { parseDuration } from '../schema/duration-text.ts'
import type { Store } from '../store/store.ts'
import type { Credentials, WebEvent } from './authentication.ts'
import { isoTime } from '../clock/iso-time.ts'
import { api, type Described } from './api.ts'
import { BadRequest, sendProblem } from './problem.ts'

export type SilencesRouteOptions = {
  store: Pick<Store, 'silences' | 'addSilence' | 'endSilence'>
  /** The host's clock (UNIX seconds). */
  wall: () => number
  /** The user that can change silences. Without authentication they are read-only: a client could suppress notifications. */
  changedBy: Pick<Credentials, 'username'> | undefined
  onEvent: (event: WebEvent) => void
  /** The targets and rules that a silence can match. */
  known: () => KnownNames
}

/** `/api/v1/silences`: GET lists silences, POST adds one (docs/webhook.md), DELETE ends one. */
export function silencesRoute(app: FastifyInstance, options: SilencesRouteOptions): void {
  const { store, wall, changedBy, onEvent, known } = options
  const routes = api(app)
  const listing: Described = { summary: 'Active silences', answers: { 200: 'Silences' } }
  const adding: Described = { summary: 'Add a silence; needs http.auth', answers: { 201: 'Silence' } }
  const ending: Described = { summary: 'End a silence early; needs http.auth', answers: { 204: null } }
  const preValidation = async (_request: FastifyRequest, reply: FastifyReply) => {
    if (changedBy !== undefined) return undefined
    const detail = 'changing silences over HTTP needs http.auth; the command `callwatch silence` does not'
    return sendProblem(reply, 403, detail)
  }
  const user = () => changedBy?.username ?? ''
  routes.get('/api/v1/silences', { config: listing }, async () => ({
    silences: (await store.silences(wall())).map(silenceView),
  }))
  routes.post(
    '/api/v1/silences',
    { schema: { body: silenceBody }, config: adding, preValidation },
    async ({ body, ip: peer }, reply) => {
      const { match, seconds, reason } = requestedSilence(body, known())
      const since = wall()
      const silence = await store.addSilence({ match, since, until: since + seconds, reason })
      onEvent({ kind: 'silence added', peer, user: user(), silence })
      return reply.code(201).send(silenceView(silence))
    },
  )
  routes.delete(
    '/api/v1/silences/:id',
    { schema: { params: silencePath }, config: ending, preValidation },
    async ({ params, ip: peer }, reply) => {
      const id = Number(params.id)
      const found = /^\d{1,15}$/.test(params.id) && (await store.endSilence(id))
      if (!found) return sendProblem(reply, 404, `there is no silence ${params.id}`)
      onEvent({ kind: 'silence ended', peer, user: user(), id })
      return reply.code(204).send()
    },
  )
}

export type SilenceView = ReturnType<typeof silenceView>

export function silenceView({ id, match, since, until, reason }: Silence) {
  return { id, match, since: isoTime(since), until: isoTime(until), reason }
}

const silencePath = z.strictObject({ id: z.string().describe('Its number') })

const label = z.string().min(1).max(200).optional()

/** The body of a POST. */
export const silenceBody = z.strictObject({
  match: z
    .strictObject(Object.fromEntries(MATCH_KEYS.map((key) => [key, label])))
    .default({})
    .describe('Selects alerts: all of them must match'),
  all: z.literal(true, { error: 'expected true, or nothing' }).optional().describe('In place of `match`: every alert'),
  for: z
    .string({ error: 'expected a duration such as "2h"' })
    .transform((text) => parseDuration(text) ?? Number.NaN)
    .refine((seconds) => seconds > 0 && seconds <= MAX_SILENCE, {
      error: 'expected a duration such as "30m", "2h" or "7d", above 0 and at most 366d',
    })
    .describe('Duration from now, such as 30m, 2h or 7d; at most 366d'),
  reason: z.string().max(1000).default('').describe('Shown with the silence'),
})

/** Which alerts to silence, for how many seconds, and why. */
export type RequestedSilence = { match: AlertMatch; seconds: number; reason: string }

/**
 * The silence that a POST requests. A match must name what exists; a silence of every alert must say so.
 *
 * @throws {BadRequest}
 */
export function requestedSilence(body: z.output<typeof silenceBody>, names: KnownNames): RequestedSilence {
  const match: AlertMatch = Object.fromEntries(Object.entries(body.match).filter(([, value]) => value !== undefined))
  const isEmpty = Object.keys(match).length === 0
  if (isEmpty && body.all === undefined) {
    throw new BadRequest(
      'nothing to match; expected `match` with some of its keys, or `"all": true` to silence every alert',
    )
  }
  if (!isEmpty && body.all === true) throw new BadRequest('`all` beside a `match`; expected one of them')
  const unknown = unknownIn(match, names)
  if (unknown !== undefined) throw new BadRequest(unknown)
  return { match, seconds: body.for, reason: body.reason }
}
