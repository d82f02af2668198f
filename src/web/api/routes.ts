import type { RouteOptions } from '../server.ts'
import { alertsRoute } from './alerts.ts'
import { callInPathRoute, callRoute } from './call.ts'
import { callsRoute } from './calls.ts'
import { eventsRoute } from './events.ts'
import { findRoute } from './find.ts'
import { openApi } from './openapi.ts'
import { reportRoute } from './report.ts'
import { rulesRoute } from './rules.ts'
import type { Route } from './route.ts'
import { seriesRoute } from './series.ts'
import { addSilence, editSilence, expireSilence } from './silences.ts'
import { stateRoute } from './state.ts'
import { testNotifyRoute } from './test-notify.ts'

/** In the order of the document. */
export const ROUTES: readonly Route<RouteOptions>[] = [
  stateRoute,
  callsRoute,
  callRoute,
  callInPathRoute,
  reportRoute,
  seriesRoute,
  alertsRoute,
  rulesRoute,
  addSilence,
  editSilence,
  expireSilence,
  testNotifyRoute,
  eventsRoute,
  findRoute,
  openApi,
]
