import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { coverageOf } from '../../history/coverage.ts'
import { coverageView, expectTargets, usageCsv, usageReport } from '../../history/usage-report.ts'
import { USAGE_KEYS, type UsageKey } from '../../history/usage.ts'
import type { RowReader } from '../../store/row-reader.ts'
import { api, type RouteDescription } from './route.ts'
import { concurrencyLimit } from '../concurrency-limit.ts'
import { known, list, period, periodOf } from './period-parameters.ts'

const reportParameters = z.strictObject({
  ...period,
  by: list
    .refine((names) => names.every(isKey), `must be some of ${USAGE_KEYS.join(', ')}`)
    .default([])
    .describe('A row for each of these, separated by commas'),
  format: z.enum(['json', 'csv'], 'must be json or csv').default('json'),
})

const coverageParameters = z.strictObject(period)

/** Each takes some time of the store. */
const MAX_REPORTS_AT_A_TIME = 2

export type ReportRouteOptions = {
  store: RowReader
  targets: { all: () => readonly string[] }
  /** The host's clock (UNIX seconds). */
  wall: () => number
}

/** `GET /api/v1/report`: what was used in a period; `GET /api/v1/coverage`: when targets were not seen. */
export function reportRoute(app: FastifyInstance, { store, wall, targets }: ReportRouteOptions): void {
  const limit = concurrencyLimit(MAX_REPORTS_AT_A_TIME)
  const report: RouteDescription = {
    summary: 'What was used: calls by outcome, minutes and durations of the calls that finished in a period',
    answers: { 200: { 'application/json': 'Report', 'text/csv': 'ReportCsv' } },
  }
  const options = { schema: { querystring: reportParameters }, config: report, exposeHeadRoute: false }
  api(app).get('/api/v1/report', options, async ({ query }, reply) => {
    if (limit.admits(reply) === undefined) return reply
    const { by: wanted, zone, target: only, format } = query
    const by = USAGE_KEYS.filter((key) => wanted.includes(key))
    const [now, aborting] = [wall(), new AbortController()]
    reply.raw.once('close', () => aborting.abort())
    const asked = { ...periodOf(query, now), by, zone, targets: only, aborted: aborting.signal }
    const found = await known(usageReport(store, asked, { configured: targets.all(), now }))
    return format === 'json' ? found : reply.type('text/csv; charset=utf-8').send(usageCsv(found, by))
  })
  const coverage: RouteDescription = { summary: 'Of which times not all calls are known', answers: { 200: 'Coverage' } }
  api(app).get(
    '/api/v1/coverage',
    { schema: { querystring: coverageParameters }, config: coverage },
    async ({ query }) => {
      const [now, all] = [wall(), targets.all()]
      const { from, to = Infinity } = periodOf(query, now)
      await known(expectTargets(store, query.target ?? [], all))
      return coverageView(await coverageOf(store, { from, to }, { targets: query.target, configured: all, now }))
    },
  )
}

function isKey(name: string): name is UsageKey {
  return USAGE_KEYS.some((key) => key === name)
}
