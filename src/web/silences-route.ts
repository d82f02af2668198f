import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import type { Silence } from '../alerts/silence.ts'
import type { Store } from '../store/store.ts'
import { isoTime } from './views.ts'

const LONGEST = 366 * 86_400

const label = z.string().min(1).max(200)
const newSilence = z.strictObject({
  match: z
    .strictObject({
      alert: label.optional(),
      severity: label.optional(),
      target: label.optional(),
      type: label.optional(),
      mode: label.optional(),
      receiver_type: label.optional(),
    })
    .default({}),
  seconds: z.number().positive().max(LONGEST),
  reason: z.string().max(1000).default(''),
})

export type SilencesRouteOptions = {
  store: Pick<Store, 'silences' | 'addSilence' | 'endSilence'>
  /** The host's clock (UNIX seconds). */
  wall: () => number
  /** Without a password nobody may keep alerts from being told. */
  mayChange: boolean
}

/** `/api/v1/silences`: who may, lists them, adds one by POST (`match`, `seconds`, `reason`), and ends one by DELETE. */
export function silencesRoute(app: FastifyInstance, { store, wall, mayChange }: SilencesRouteOptions): void {
  app.get('/api/v1/silences', async () => ({ silences: (await store.silences(wall())).map(silenceView) }))
  if (!mayChange) {
    const refusal = { error: 'silences can be changed here only with http.auth set; `callwatch silence` does without' }
    app.post('/api/v1/silences', (_request, reply) => reply.code(403).send(refusal))
    app.delete('/api/v1/silences/:id', (_request, reply) => reply.code(403).send(refusal))
    return
  }
  app.post('/api/v1/silences', async (request, reply) => {
    const { data, error } = newSilence.safeParse(request.body)
    if (data === undefined) return reply.code(400).send({ error: z.prettifyError(error) })
    const since = wall()
    const match = Object.fromEntries(Object.entries(data.match).filter(([, value]) => value !== undefined))
    const silence = await store.addSilence({ match, since, until: since + data.seconds, reason: data.reason })
    return reply.code(201).send(silenceView(silence))
  })
  app.delete<{ Params: { id: string } }>('/api/v1/silences/:id', async (request, reply) => {
    const found = /^\d{1,15}$/.test(request.params.id) && (await store.endSilence(Number(request.params.id)))
    return found ? reply.code(204).send() : reply.code(404).send({ error: `there is no silence ${request.params.id}` })
  })
}

function silenceView({ id, match, since, until, reason }: Silence) {
  return { id, match, since: isoTime(since), until: isoTime(until), reason }
}
