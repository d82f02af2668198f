import * as z from 'zod'
import { readServiceNow } from '../../history/coverage.ts'
import { reportOf } from '../../history/report.ts'
import { usageKeys, USAGE_KEYS } from '../../history/usage-keys.ts'
import { appsOf } from '../../ledger/session-id.ts'
import { report, reportCsv, reportText, reportView } from '../../views/report.ts'
import type { WebOptions } from '../server.ts'
import { list, period, periodOf } from '../../history/queries/parameters.ts'
import { route } from './route.ts'

const parameters = z.strictObject({
  ...period,
  by: list
    .refine((names) => usageKeys(names) !== undefined, `must be some of ${USAGE_KEYS.join(', ')}, or none`)
    .default(['target'])
    .describe('A row for each of these, separated by commas; or none'),
  format: z.enum(['json', 'csv', 'excel'], 'must be json, csv or excel').default('json'),
})

/** The usage of a period. */
export const reportRoute = route(
  'GET /api/v1/report',
  'What was used: calls by outcome, minutes and durations of the calls that finished in a period',
  {
    checks: { querystring: parameters },
    answers: { 200: { 'application/json': report, 'text/csv': reportText } },
    // Each loads the store.
    atATime: 2,
  },
  ({ store, wall, targets, configured }: WebOptions) =>
    async ({ query, signal: aborted }, reply) => {
      const by = usageKeys(query.by)!
      const now = wall()
      const period = periodOf(query, await readServiceNow(store, query.target, now))
      const appOf = appsOf(configured())
      const asked = { ...period, by, zone: query.zone, targets: query.target, appOf, aborted }
      const found = reportView(await reportOf(store, asked, { configured: targets.all(), now }))
      const { format } = query
      if (format === 'json') return found
      return reply.type('text/csv; charset=utf-8').send(reportCsv(found, format))
    },
)
