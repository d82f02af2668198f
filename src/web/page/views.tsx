import type { ComponentType } from 'preact'
import { AlertBody, AlertFacts } from './components/alerts/alert.tsx'
import { Alerts, PastAlerts } from './components/alerts/alerts.tsx'
import { CallDetails } from './components/call-details.tsx'
import { CallsExplorer } from './components/calls.tsx'
import { Charts, FinishedPerMinute } from './components/charts.tsx'
import { Feed } from './components/feed.tsx'
import { FailureRatio, InProgress, Tiles } from './components/glance.tsx'
import { Head, SelectedIncident } from './components/head.tsx'
import { AtRest, Rules } from './components/alerts/rules.tsx'
import { ServiceSearch } from './components/service-search.tsx'
import { Silencing } from './components/silencing.tsx'
import { IncidentPage } from './components/alerts/incident.tsx'
import { UnknownView } from './components/unknown-view.tsx'
import { Overview, TargetFacts, Webhooks } from './components/targets.tsx'
import { Usage } from './components/usage.tsx'
import { loadIncident } from './model/alerts/incident-page.ts'
import { loadAlert } from './model/alerts/alert-page.ts'
import { loadCall, loadCalls, stopSearch } from './model/calls.ts'
import { openCharts } from './model/charts.ts'
import { loadRules } from './model/alerts/rules.ts'
import { loadSilencing } from './model/silences.ts'
import { stopLoading, type State } from './model/state.ts'
import { loadUsage } from './model/usage.ts'

/** A view of the page. The address names it by its hash. */
export type View = {
  name: string
  title: string
  /** What it shows, in order. */
  parts: readonly ComponentType<{ state: State }>[]
  /** Loads what it shows besides the snapshot. */
  load?: () => Promise<void>
  /** Ends what it loads. */
  stop?: () => void
  /** Whether only other views link to it. */
  isHidden?: boolean
}

const OVERVIEW: View = {
  name: 'overview',
  title: 'Overview',
  parts: [Head, Tiles, FinishedPerMinute, Overview, FailureRatio, InProgress, TargetFacts, Webhooks, Feed],
}

/** In the order of their links. A view is an entry. */
export const VIEWS: readonly View[] = [
  OVERVIEW,
  { name: 'alerts', title: 'Alerts', parts: [SelectedIncident, AtRest, Alerts, Rules, PastAlerts], load: loadRules },
  { name: 'charts', title: 'Charts', parts: [Charts], load: openCharts, stop: () => stopLoading('charts') },
  { name: 'calls', title: 'Calls', parts: [ServiceSearch, CallsExplorer], load: loadCalls, stop: stopSearch },
  { name: 'call', title: 'Call', parts: [CallDetails], load: loadCall, isHidden: true },
  { name: 'alert', title: 'Alert', parts: [AlertFacts, AlertBody], load: loadAlert, isHidden: true },
  { name: 'usage', title: 'Usage', parts: [Usage], load: loadUsage },
  { name: 'silences', title: 'Silences', parts: [Silencing], load: loadSilencing },
  { name: 'incident', title: 'Incident', parts: [IncidentPage], load: loadIncident, isHidden: true },
  { name: 'unknown', title: 'Unknown view', parts: [UnknownView], isHidden: true },
]

export const viewOf = ({ view }: Pick<State, 'view'>) => VIEWS.find(({ name }) => name === view) ?? OVERVIEW
