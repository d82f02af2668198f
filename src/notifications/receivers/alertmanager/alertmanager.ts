import { nearbyBaseAddress } from '../../../schema/scalars.ts'
import { section } from '../../../schema/section.ts'
import type { ReceiverType } from '../../receiver.ts'

const alertmanagerSection = section({ url: nearbyBaseAddress().describe('Base URL, without /api/v2/alerts') })

/** An Alertmanager. It takes the state of all alerts, and no messages. */
export const alertmanager: ReceiverType<typeof alertmanagerSection> = {
  about: 'An Alertmanager that gets every alert, as Prometheus would send it',
  section: alertmanagerSection,
  notRouted: 'an Alertmanager gets every alert, and selects by routes of its own',
  create: async ({ url }, context) => {
    const { alertmanagerRefresh } = await import('./alertmanager-refresh.ts')
    return { refresh: alertmanagerRefresh({ ...context, url }) }
  },
}
