import type { WebOptions } from '../server.ts'
import { alertHistoryRoute, alertsRoute, incidentsRoute } from './alerts.ts'
import { callInPathRoute, callRoute } from './call.ts'
import { callsRoute } from './calls.ts'
import { eventsRoute } from './events.ts'
import { finishedPerMinuteRoute } from './finished-per-minute.ts'
import { openApi } from './openapi.ts'
import { coverageRoute, reportRoute } from './report.ts'
import type { Route } from './route.ts'
import { seriesRoute } from './series.ts'
import { addSilence, editSilence, expireSilence, listSilences } from './silences.ts'
import { statusRoute } from './status.ts'
import { receiversRoute, webhooksRoute } from './deliveries.ts'

/** In the order of the document. */
export const ROUTES: readonly Route<WebOptions>[] = [
  statusRoute,
  incidentsRoute,
  alertsRoute,
  callsRoute,
  callRoute,
  callInPathRoute,
  reportRoute,
  coverageRoute,
  seriesRoute,
  alertHistoryRoute,
  finishedPerMinuteRoute,
  listSilences,
  addSilence,
  editSilence,
  expireSilence,
  eventsRoute,
  webhooksRoute,
  receiversRoute,
  openApi,
]
