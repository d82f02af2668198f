import {
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
  type Dashboard,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { CHOSEN } from './panels.ts'
import { calls, now } from './rows/calls.ts'
import { alerts, daemons, itself } from './rows/itself.ts'
import { minutes } from './rows/minutes.ts'
import { oddities, quality } from './rows/quality.ts'
import { targets } from './rows/targets.ts'

/**
 * The dashboard. Gauges of a target are taken as the largest of all daemons (`max by`), so that it is told once whichever
 * of several daemons watches it; counters of calls as they are recorded of all daemons together. What a daemon counts of
 * itself begins with it, and adds up.
 */
export function dashboard(): Dashboard {
  const built = new DashboardBuilder('callwatch')
    .uid('callwatch')
    .description(
      'Calls, minutes and failures, and how well callwatch knows them. Needs the recording rules of config/prometheus/callwatch-recording.yaml. Made by config/grafana/dashboard.ts.',
    )
    .tags(['callwatch'])
    .time({ from: 'now-6h', to: 'now' })
    .refresh('30s')
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'))
    .withVariable(
      new QueryVariableBuilder('target')
        .label('Target')
        .datasource(CHOSEN)
        .query('label_values(callwatch_up, target)')
        .refresh(VariableRefresh.OnTimeRangeChanged)
        // oxlint-disable-next-line unicorn/no-array-sort -- it is no array
        .sort(VariableSort.NaturalAsc)
        .multi(true)
        .includeAll(true)
        .allValue('.+')
        .current({ text: ['All'], value: ['$__all'] }),
    )
  const rows = { 'Now and today': now(), Calls: calls(), Minutes: minutes(), 'Answering and talking': quality() }
  const health = {
    'Out of the ordinary': oddities(),
    Targets: targets(),
    Alerts: alerts(),
    'Several daemons': daemons(),
    'callwatch itself': itself(),
  }
  for (const [title, panels] of Object.entries({ ...rows, ...health })) {
    built.withRow(new RowBuilder(title))
    for (const panel of panels) built.withPanel(panel)
  }
  const { panels = [], ...rest } = built.build()
  // By these a link to a panel goes on working.
  return { ...rest, panels: panels.map((panel, i) => ({ ...panel, id: i + 1 })) }
}
