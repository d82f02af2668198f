import type { z } from 'zod'
import { isMap } from '../../../schema/path.ts'
import { nearbyBaseAddress, text } from '../../../schema/scalars.ts'
import { password, reportLogin } from '../../../schema/secret.ts'
import { section } from '../../../schema/section.ts'
import { isSafeAddress } from '../../../schema/web-address.ts'
import { httpHeaders } from '../../http-headers.ts'
import type { ReceiverType } from '../../receiver.ts'

/** Names a tenant, and is no secret. */
const TENANT = 'x-scope-orgid'

const alertmanagerSection = section(
  {
    url: nearbyBaseAddress().describe('Base URL, without /api/v2/alerts'),
    headers: httpHeaders().optional().describe('Sent with each request; the values are secrets'),
    username: text('a user name without a colon', (name) => !/[:\p{Cc}]/u.test(name))
      .optional()
      .describe('The user at Alertmanager; default: no login'),
    password: password('ALERTMANAGER_PASSWORD').optional(),
  },
  ({ url, headers, username, password: given, password_file: file }, report) => {
    const hasPassword = given !== undefined || file !== undefined
    reportLogin(username !== undefined, hasPassword, report)
    const names = Object.keys(isMap(headers) ? headers : {}).map((name) => name.toLowerCase().replace(/_file$/, ''))
    if (username !== undefined && names.includes('authorization'))
      report(['username'], 'not accepted together with the header `authorization`; expected one of them')
    const isPrivate = hasPassword || names.some((name) => name !== TENANT)
    if (isPrivate && typeof url === 'string' && URL.canParse(url) && !isSafeAddress(url))
      report(['url'], 'found plain http, which would show the password or headers; expected an https URL')
  },
).meta({ dependentRequired: { password: ['username'], password_file: ['username'] } })

export type AlertmanagerConfig = z.output<typeof alertmanagerSection>

/** An Alertmanager. It takes the state of all alerts, and no messages. */
export const alertmanager: ReceiverType<typeof alertmanagerSection> = {
  about: 'An Alertmanager that gets every alert, as Prometheus would send it',
  section: alertmanagerSection,
  notRouted: 'an Alertmanager gets every alert, and selects by routes of its own',
  create: async (config, context) => {
    const { alertmanagerRefresh } = await import('./alertmanager-refresh.ts')
    return { refresh: alertmanagerRefresh({ ...context, ...config }) }
  },
}
