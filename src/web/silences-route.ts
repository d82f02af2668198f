import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { MAX_SILENCE, MATCH_KEYS, unknownIn, type AlertMatch, type KnownNames, type Silence } from '../alerts/match.ts'
import { parseDuration } from '../schema/duration-text.ts'
import type { Store } from '../store/store.ts'
import type { Credentials, WebEvent } from './authentication.ts'
import { isoTime } from '../clock/iso-time.ts'

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
  app.get('/api/v1/silences', async () => ({ silences: (await store.silences(wall())).map(silenceView) }))
  if (changedBy === undefined) {
    const refusal = { error: 'changing silences over HTTP needs http.auth; the command `callwatch silence` does not' }
    app.post('/api/v1/silences', (_request, reply) => reply.code(403).send(refusal))
    app.delete('/api/v1/silences/:id', (_request, reply) => reply.code(403).send(refusal))
    return
  }
  app.post('/api/v1/silences', async (request, reply) => {
    const requested = readSilence(request.body, known())
    if ('error' in requested) return reply.code(400).send(requested)
    const { match, seconds, reason } = requested
    const since = wall()
    const silence = await store.addSilence({ match, since, until: since + seconds, reason })
    onEvent({ kind: 'silence added', peer: request.ip, user: changedBy.username, silence })
    return reply.code(201).send(silenceView(silence))
  })
  app.delete<{ Params: { id: string } }>('/api/v1/silences/:id', async (request, reply) => {
    const id = Number(request.params.id)
    const found = /^\d{1,15}$/.test(request.params.id) && (await store.endSilence(id))
    if (!found) return reply.code(404).send({ error: `there is no silence ${request.params.id}` })
    onEvent({ kind: 'silence ended', peer: request.ip, user: changedBy.username, id })
    return reply.code(204).send()
  })
}

export type SilenceView = ReturnType<typeof silenceView>

export function silenceView({ id, match, since, until, reason }: Silence) {
  return { id, match, since: isoTime(since), until: isoTime(until), reason }
}

const label = z.string().min(1).max(200).optional()
const silenceBody = z.strictObject({
  match: z.strictObject(Object.fromEntries(MATCH_KEYS.map((key) => [key, label]))).default({}),
  all: z.literal(true, { error: 'expected true, or nothing' }).optional(),
  for: z
    .string({ error: 'expected a duration such as "2h"' })
    .transform((text) => parseDuration(text) ?? Number.NaN)
    .refine((seconds) => seconds > 0 && seconds <= MAX_SILENCE, {
      error: 'expected a duration such as "30m", "2h" or "7d", above 0 and at most 366d',
    }),
  reason: z.string().max(1000).default(''),
})

/** What a POST requests: which alerts to silence, for how many seconds, and why. Or what is wrong with it, in sentences. */
export type RequestedSilence = { match: AlertMatch; seconds: number; reason: string } | { error: string }

/** Reads the body of a POST. A match must name what exists; a silence of every alert must say so. */
export function readSilence(body: unknown, names: KnownNames): RequestedSilence {
  const { data, error } = silenceBody.safeParse(body)
  if (data === undefined) return { error: z.prettifyError(error) }
  const match: AlertMatch = Object.fromEntries(Object.entries(data.match).filter(([, value]) => value !== undefined))
  const isEmpty = Object.keys(match).length === 0
  if (isEmpty && data.all === undefined) {
    return {
      error: 'nothing to match; expected `match` with some of its keys, or `"all": true` to silence every alert',
    }
  }
  if (!isEmpty && data.all === true) return { error: '`all` beside a `match`; expected one of them' }
  const unknown = unknownIn(match, names)
  return unknown === undefined ? { match, seconds: data.for, reason: data.reason } : { error: unknown }
}
