import { Readable } from 'node:stream'
import * as z from 'zod'
import { isoTime } from '../../clock/times.ts'
import type { WebOptions } from '../server.ts'
import { otherTargetJson } from './overview.ts'
import { namedObject, time } from './parts.ts'
import { route } from './route.ts'
import { target, targetJson } from './target-view.ts'

const answer = namedObject('Status', {
  version: z.string(),
  now: time,
  problem: z.string().optional().describe('Why this daemon can own no target'),
  targets: z.array(target),
})

export type Status = z.output<typeof answer>

/**
 * All targets. Only this answer is joined from texts: with ten thousand targets, nearly all of it was written before
 * (`committedJson`), or by another daemon.
 */
export const statusRoute = route(
  'GET /api/v1/status',
  'Targets with counts, windows and rules',
  {
    answers: { 200: answer },
  },
  ({ version, targets, problem, wall }: WebOptions) =>
    async (_request, reply) => {
      const now = wall()
      const head: Omit<Status, 'targets'> = { version, now: isoTime(now), problem: problem() }
      const views = new Map(targets.own().map((each) => [each.name, targetJson(each)]))
      for (const other of targets.others()) views.set(other.name, otherTargetJson(other, now))
      const ordered = targets.all().flatMap((name) => views.get(name) ?? [])
      return reply.type('application/json; charset=utf-8').send(Readable.from(joined(head, ordered)))
    },
)

/**
 * How many targets are sent together. One text of ten thousand blocks the event loop for a third of a second, and parts of a hundred
 * take a client a fifth longer.
 */
const SENT_TOGETHER = 20

function* joined(head: Omit<Status, 'targets'>, targets: readonly string[]): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"targets":[`
  for (let i = 0; i < targets.length; i += SENT_TOGETHER)
    yield `${i === 0 ? '' : ','}${targets.slice(i, i + SENT_TOGETHER).join(',')}`
  yield ']}'
}
