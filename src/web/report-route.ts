import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { coverageOf } from '../history/coverage.ts'
import { MOMENT, readMoment } from '../history/moment.ts'
import { coverageView, usageCsv, usageReport } from '../history/usage-report.ts'
import { USAGE_KEYS } from '../history/usage.ts'
import { isTimezone } from '../schema/timezone.ts'
import type { RowReader } from '../store/row-reader.ts'
import { api, type Described } from './api.ts'
import { BadRequest } from './problem.ts'

const listOf = (text: string | readonly string[]) => [text].flat().flatMap((names) => names.split(','))
const list = z.union([z.string(), z.array(z.string())]).transform(listOf)

const period = {
  since: z.string().describe(`Since then: ${MOMENT}`),
  until: z.string().optional().describe('Before then; default: now'),
  zone: z
    .string()
    .refine(isTimezone, 'must be a time zone such as Europe/Berlin, or UTC')
    .default('UTC')
    .describe('Of dates and days'),
  target: list.optional().describe('Names of targets, separated by commas'),
}

const reportParameters = z.strictObject({
  ...period,
  by: list
    .pipe(z.array(z.enum(USAGE_KEYS, `must be some of ${USAGE_KEYS.join(', ')}`)))
    .default([])
    .describe('A row for each of these, separated by commas'),
  format: z.enum(['json', 'csv'], 'must be json or csv').default('json'),
})

const coverageParameters = z.strictObject(period)

export type ReportRouteOptions = {
  store: RowReader
  /** The host's clock (UNIX seconds). */
  wall: () => number
}

/** `GET /api/v1/report`: what was used in a period; `GET /api/v1/coverage`: when targets were not seen. */
export function reportRoute(app: FastifyInstance, { store, wall }: ReportRouteOptions): void {
  const report: Described = {
    summary: 'What was used: calls by outcome, minutes and durations of the calls that finished in a period',
    answers: { 200: { 'application/json': 'Report', 'text/csv': 'ReportCsv' } },
  }
  api(app).get(
    '/api/v1/report',
    { schema: { querystring: reportParameters }, config: report },
    async (request, reply) => {
      const { by: wanted, zone, target: targets, format } = request.query
      const by = USAGE_KEYS.filter((key) => wanted.includes(key))
      const found = await usageReport(store, { ...periodOf(request.query, wall()), by, zone, filter: { targets } })
      return format === 'json' ? found : reply.type('text/csv; charset=utf-8').send(usageCsv(found.rows, by))
    },
  )
  const coverage: Described = { summary: 'When targets were not seen', answers: { 200: 'Coverage' } }
  api(app).get(
    '/api/v1/coverage',
    { schema: { querystring: coverageParameters }, config: coverage },
    async ({ query }) => coverageView(await coverageOf(store, periodOf(query, wall()), query.target)),
  )
}

function periodOf({ since, until, zone }: { since: string; until?: string | undefined; zone: string }, now: number) {
  const moment = (name: string, text: string) => {
    const time = readMoment(text, zone, now)
    if (time === undefined) throw new BadRequest(`${name} must be ${MOMENT}`)
    return time
  }
  const [from, to] = [moment('since', since), until === undefined ? now : moment('until', until)]
  if (from >= to) throw new BadRequest('since must be before until')
  return { from, to }
}
