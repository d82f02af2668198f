import { nearbyBaseAddress } from '../../../schema/scalars.ts'
import { section } from '../../../schema/section.ts'

/** An Alertmanager. It takes alerts as they are and no messages: alertmanager-refresh.ts sends them. */
export const alertmanager = {
  about: 'An Alertmanager that gets every alert, as Prometheus would send it',
  section: section({ url: nearbyBaseAddress().describe('Base URL, without /api/v2/alerts') }),
}
