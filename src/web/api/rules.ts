import * as z from 'zod'
import { watchedRules, watchedRuleView } from '../../views/watched-rule.ts'
import { expectTargets } from '../../history/usage.ts'
import { period } from '../../history/queries/parameters.ts'
import type { WebOptions } from '../server.ts'
import { route } from './route.ts'

/** The rules of the configuration, with the values of the targets that this daemon polls. */
export const rulesRoute = route(
  'GET /api/v1/rules',
  'The rules, each with its worst value now and in the last day, and with who is notified of its alerts',
  { checks: { querystring: z.strictObject({ target: period.target }) }, answers: { 200: watchedRules } },
  ({ rules, targets: served, store, wall, receiversOf }: WebOptions) =>
    async ({ query: { target: asked = [] } }) => {
      await expectTargets(store, asked, served.all())
      const isAsked = (name: string) => asked.length === 0 || asked.includes(name)
      const names = served.all().filter(isAsked)
      const own = served.own().filter(({ name }) => isAsked(name))
      const now = wall()
      return {
        rules: rules().map((rule) => watchedRuleView(rule, { targets: own, now, notify: receiversOf(rule, names) })),
      }
    },
)
