import * as z from 'zod'
import { MAX_SILENCE_SECONDS, requestedMatch } from '../../alerts/match.ts'
import { parseDuration } from '../../schema/duration-text.ts'
import { alertMatch, silence, silenceView } from '../../views/silence.ts'
import type { WebOptions } from '../server.ts'
import { sendProblem } from '../problem.ts'
import { route } from './route.ts'

const silencePath = z.strictObject({ id: z.string().describe('Its number') })

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
  all: all.describe('Instead of `match`: every alert'),
  for: duration,
  reason: reason.default('').describe('Shown with the silence'),
})

/** The body of a PATCH: what it leaves out stays. */
const editBody = z.strictObject({
  match: alertMatch.optional().describe('Instead of the match so far'),
  all: all.describe('Instead of `match`: every alert'),
  for: duration.optional(),
  reason: reason.optional(),
  edits: z
    .int()
    .nonnegative()
    .optional()
    .describe('`edits` of the silence that is edited: refused with 409 if it has others'),
})

/** 0, which is no silence, for a text that is no number. */
const numberOf = (id: string) => (/^\d{1,15}$/.test(id) ? Number(id) : 0)

/** What is wrong with a selection of nothing, or of all alerts and some. */
export const SELECTION_PROBLEMS = {
  nothing: 'nothing to match; expected `match` with some of its keys, or `"all": true` to silence every alert',
  both: '`all` together with a `match`; expected one of them',
}

/** See docs/webhook.md. */
export const addSilence = route(
  'POST /api/v1/silences',
  'Add a silence; needs http.auth',
  {
    checks: { body: silenceBody },
    answers: { 201: silence },
  },
  ({ store, wall, auth, onEvent, known }: WebOptions) =>
    async ({ body, ip: peer }, reply) => {
      const match = requestedMatch(body, known(), SELECTION_PROBLEMS)
      const [since, user] = [wall(), auth?.().username ?? '']
      const { reason } = body
      const added = await store.addSilence({ match, since, until: since + body.for, reason, author: user })
      onEvent({ kind: 'silence added', peer, user, silence: added })
      return reply.code(201).send(silenceView(added))
    },
)

export const editSilence = route(
  'PATCH /api/v1/silences/:id',
  'Edit an active silence; needs http.auth',
  {
    checks: { params: silencePath, body: editBody },
    answers: { 200: silence },
  },
  ({ store, wall, auth, onEvent, known }: WebOptions) =>
    async ({ params: { id }, body, ip: peer }, reply) => {
      const now = wall()
      const isOther = body.match !== undefined || body.all !== undefined
      const changes = {
        ...(body.reason !== undefined && { reason: body.reason }),
        ...(body.for !== undefined && { until: now + body.for }),
        ...(isOther && { match: requestedMatch(body, known(), SELECTION_PROBLEMS) }),
      }
      const edited = await store.editSilence(numberOf(id), changes, now, body.edits)
      if (edited === undefined) return sendProblem(reply, 404, `there is no active silence ${id}`)
      if (edited === 'changed')
        return sendProblem(reply, 409, `silence ${id} was changed meanwhile; read it again, then edit it`)
      onEvent({ kind: 'silence edited', peer, user: auth?.().username ?? '', silence: edited })
      return silenceView(edited)
    },
)

export const expireSilence = route(
  'DELETE /api/v1/silences/:id',
  'Expire a silence early; needs http.auth',
  {
    checks: { params: silencePath },
    answers: { 204: null },
  },
  ({ store, wall, auth, onEvent }: WebOptions) =>
    async ({ params, ip: peer }, reply) => {
      const id = numberOf(params.id)
      if (!(await store.expireSilence(id, wall())))
        return sendProblem(reply, 404, `there is no active silence ${params.id}`)
      onEvent({ kind: 'silence expired', peer, user: auth?.().username ?? '', id })
      return reply.code(204).send()
    },
)
