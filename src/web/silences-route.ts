import type { FastifyInstance } from 'fastify'
import type { Silence } from '../alerts/silence.ts'
import type { Store } from '../store/store.ts'
import type { Credentials } from './authentication.ts'
import { readSilence } from './silence-body.ts'
import { isoTime, type WatchedTarget } from './views.ts'
import type { WebEvent } from './web-event.ts'

export type SilencesRouteOptions = {
  store: Pick<Store, 'silences' | 'addSilence' | 'endSilence'>
  /** The host's clock (UNIX seconds). */
  wall: () => number
  /** Who may change them: without a password nobody may keep alerts from being told. */
  changedBy: Pick<Credentials, 'username'> | undefined
  note: (event: WebEvent) => void
  /** Those that a silence can be of, with their rules. */
  targets: readonly Pick<WatchedTarget, 'target' | 'rules'>[]
}

/** `/api/v1/silences` lists them; who may adds one by POST (docs/webhook.md) and ends one by DELETE. */
export function silencesRoute(app: FastifyInstance, options: SilencesRouteOptions): void {
  const { store, wall, changedBy, note, targets } = options
  app.get('/api/v1/silences', async () => ({ silences: (await store.silences(wall())).map(silenceView) }))
  if (changedBy === undefined) {
    const refusal = { error: 'silences can be changed here only with http.auth set; `callwatch silence` does without' }
    app.post('/api/v1/silences', (_request, reply) => reply.code(403).send(refusal))
    app.delete('/api/v1/silences/:id', (_request, reply) => reply.code(403).send(refusal))
    return
  }
  app.post('/api/v1/silences', async (request, reply) => {
    const alert = [...new Set(targets.flatMap(({ rules }) => rules.map(({ name }) => name)))]
    const asked = readSilence(request.body, { alert, target: targets.map(({ target }) => target) })
    if ('error' in asked) return reply.code(400).send(asked)
    const { match, seconds, reason } = asked
    const since = wall()
    const silence = await store.addSilence({ match, since, until: since + seconds, reason })
    note({ kind: 'silence added', peer: request.ip, user: changedBy.username, silence })
    return reply.code(201).send(silenceView(silence))
  })
  app.delete<{ Params: { id: string } }>('/api/v1/silences/:id', async (request, reply) => {
    const id = Number(request.params.id)
    const found = /^\d{1,15}$/.test(request.params.id) && (await store.endSilence(id))
    if (!found) return reply.code(404).send({ error: `there is no silence ${request.params.id}` })
    note({ kind: 'silence ended', peer: request.ip, user: changedBy.username, id })
    return reply.code(204).send()
  })
}

export function silenceView({ id, match, since, until, reason }: Silence) {
  return { id, match, since: isoTime(since), until: isoTime(until), reason }
}
