import * as z from 'zod'
import type { FastifyInstance } from 'fastify'
import type { Store } from '../store/store.ts'
import { callView, type WatchedTarget } from './views.ts'

/** The most calls that one answer of the history holds; the newest come first. */
const MOST_CALLS = 10_000

const query = z.object({
  /** ISO 8601, or UNIX seconds. */
  finished_since: z
    .string()
    .transform((text) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : Date.parse(text) / 1000))
    .refine(Number.isFinite, 'must be a time: ISO 8601 like 2026-11-20T08:00:00Z, or UNIX seconds')
    .optional(),
  status: z.string().optional(),
  format: z.enum(['json', 'csv'], 'must be json or csv').optional(),
})

/** `GET /api/v1/calls`: calls in progress, or with `finished_since` those that finished since. */
export function callsRoute(
  app: FastifyInstance,
  { targets, store }: { targets: readonly WatchedTarget[]; store: Pick<Store, 'finishedCalls'> },
): void {
  app.get('/api/v1/calls', async (request, reply) => {
    const parsed = query.safeParse(request.query)
    if (!parsed.success) {
      const [issue] = parsed.error.issues
      return reply.code(400).send({ error: `${issue?.path.join('.')} ${issue?.message}` })
    }
    const { finished_since: since, status, format } = parsed.data
    const found =
      since === undefined
        ? targets.flatMap(({ target, ledger }) => [...ledger.open.values()].map((call) => ({ target, call })))
        : await store.finishedCalls({ since, limit: MOST_CALLS })
    const calls = found
      .map(({ target, call }) => callView(target, call))
      .filter((view) => status === undefined || view.status === status)
    if (format !== 'csv') return { calls }
    return reply.type('text/csv; charset=utf-8').send(csv(calls))
  })
}

function csv(calls: readonly ReturnType<typeof callView>[]): string {
  const header =
    'target,session_id,type,mode,receiver_type,status,began,finished,participants,audio_minutes,video_minutes'
  const rows = calls.map((call) => {
    const { target, session_id, type, mode, receiver_type, status, began, finished = '', participants, minutes } = call
    const texts = [target, session_id, type, mode, receiver_type, status, began, finished].map(quote)
    return [...texts, participants, minutes.audio, minutes.video].join(',')
  })
  return [header, ...rows, ''].join('\r\n')
}

/** A field by RFC 4180; one that a spreadsheet would take for a formula is made a text. */
function quote(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
