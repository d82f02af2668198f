import {
  BigValueColorMode,
  BigValueGraphMode,
  GraphDrawStyle,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  GraphGradientMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
  type DataSourceRef,
} from '@grafana/grafana-foundation-sdk/common'
import {
  DashboardLinkBuilder,
  DashboardLinkType,
  FieldColorBuilder,
  FieldColorModeId,
  MappingType,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type Threshold,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus'
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat'
import { PanelBuilder as StateTimelineBuilder } from '@grafana/grafana-foundation-sdk/statetimeline'
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table'
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries'

/** The Prometheus that the user selects at the top of the dashboard. */
export const SELECTED: DataSourceRef = { type: 'prometheus', uid: '${datasource}' }

/** PromQL by its legend; Grafana replaces `{{label}}` by the value of the label. */
export type Queries = Readonly<Record<string, string>>

/** The filters of the calls explorer of callwatch's page, in the query of its address. */
export type CallFilter = 'target' | 'type' | 'mode' | 'receiver_type' | 'status'

/**
 * The options of every panel: `width` in columns of 24, `unit` by Grafana's name. `calls` links each series to the calls
 * behind it: filters of the explorer, by the labels of the series that have their values.
 */
type Common = {
  title: string
  about: string
  width: number
  unit?: string
  queries: Queries
  calls?: Readonly<Partial<Record<CallFilter, string>>>
}

/** Thresholds of the colours orange and red. */
type Limits = { warning: number; bad: number }

export type Graph = Common & {
  stacked?: boolean
  limits?: Limits
  max?: number
  /** By the name of a series, or a regular expression between slashes. */
  colors?: Readonly<Record<string, string>>
}

/** A chart of values over time. */
export function graph({
  title,
  about,
  width,
  unit = 'short',
  queries,
  stacked = false,
  ...rest
}: Graph): TimeseriesBuilder {
  const panel = new TimeseriesBuilder()
    .title(title)
    .description(about)
    .datasource(SELECTED)
    .span(width)
    .height(8)
    .unit(unit)
    .min(0)
    .lineWidth(1)
    .fillOpacity(stacked ? 60 : 8)
    .gradientMode(GraphGradientMode.None)
    .drawStyle(GraphDrawStyle.Line)
    .showPoints(VisibilityMode.Never)
    .legend(
      new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom),
    )
    // oxlint-disable-next-line unicorn/no-array-sort -- not an array
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .targets(rangeQueries(queries))
  if (stacked) panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'))
  if (rest.max !== undefined) panel.max(rest.max)
  if (rest.limits !== undefined) {
    panel
      .thresholds(thresholds(rest.limits))
      .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed))
  }
  for (const [name, color] of Object.entries(rest.colors ?? {})) {
    const fixed = [{ id: 'color', value: { mode: 'fixed', fixedColor: color } }]
    if (name.startsWith('/')) panel.overrideByRegexp(name, fixed)
    else panel.overrideByName(name, fixed)
  }
  if (rest.calls !== undefined) panel.dataLinks([callsLink(rest.calls)])
  return panel
}

export type Stat = Common & {
  decimals?: number
  limits?: Limits
  today?: boolean
  noValue?: string
}

/** A current number. With `today` the time range is the day so far, which queries use as `$__range`. */
export function stat({ title, about, width, unit = 'short', queries, ...rest }: Stat): StatBuilder {
  const panel = new StatBuilder()
    .title(title)
    .description(about)
    .datasource(SELECTED)
    .span(width)
    .height(4)
    .unit(unit)
    .graphMode(BigValueGraphMode.None)
    .colorMode(BigValueColorMode.Value)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false))
    .thresholds(thresholds(rest.limits))
    .targets(instantQueries(queries, PromQueryFormat.TimeSeries))
  if (rest.decimals !== undefined) panel.decimals(rest.decimals)
  if (rest.today === true) panel.timeFrom('now/d')
  if (rest.noValue !== undefined) panel.noValue(rest.noValue)
  if (rest.calls !== undefined) panel.dataLinks([callsLink(rest.calls)])
  return panel
}

/** A metric that is 1 or 0, over time. */
export function healthTimeline({ title, about, width, queries }: Omit<Common, 'unit'>): StateTimelineBuilder {
  return new StateTimelineBuilder()
    .title(title)
    .description(about)
    .datasource(SELECTED)
    .span(width)
    .height(8)
    .showValue(VisibilityMode.Never)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .mappings([
      {
        type: MappingType.ValueToText,
        options: {
          '0': { text: 'no', color: 'red', index: 0 },
          '1': { text: 'yes', color: 'green', index: 1 },
        },
      },
    ])
    .targets(rangeQueries(queries))
}

/** A table of the current series. `hidden` are columns without information. */
export function list({
  title,
  about,
  width,
  queries,
  hidden,
  noValue,
}: Omit<Common, 'unit'> & { hidden: readonly string[]; noValue?: string }): TableBuilder {
  const panel = new TableBuilder()
    .title(title)
    .description(about)
    .datasource(SELECTED)
    .span(width)
    .height(8)
    .targets(instantQueries(queries, PromQueryFormat.Table))
    .withTransformation({
      id: 'organize',
      options: { excludeByName: Object.fromEntries(hidden.map((name) => [name, true])) },
    })
  if (noValue !== undefined) panel.noValue(noValue)
  return panel
}

/** A link to the calls explorer, with the time range of the dashboard. */
function callsLink(filters: Common['calls'] & {}): DashboardLinkBuilder {
  const values = Object.entries(filters).map(([filter, label]) => `${filter}=\${__field.labels.${label}:percentencode}`)
  const query = [...values, 'since=${__from:date:iso}', 'until=${__to:date:iso}'].join('&')
  return new DashboardLinkBuilder('Calls in callwatch')
    .type(DashboardLinkType.Link)
    .url(`\${callwatch_url:raw}/?${query}#calls`)
    .targetBlank(true)
}

function rangeQueries(queries: Queries): DataqueryBuilder[] {
  return each(queries).map((query) => query.range().format(PromQueryFormat.TimeSeries))
}

function instantQueries(queries: Queries, format: PromQueryFormat): DataqueryBuilder[] {
  return each(queries).map((query) => query.instant().format(format))
}

function each(queries: Queries): DataqueryBuilder[] {
  return Object.entries(queries).map(([legend, expr], i) =>
    new DataqueryBuilder()
      .datasource(SELECTED)
      .refId(String.fromCodePoint(65 + i))
      .expr(expr)
      .legendFormat(legend),
  )
}

function thresholds(limits: Limits | undefined): ThresholdsConfigBuilder {
  const steps: Threshold[] = [{ value: null, color: 'green' }]
  if (limits !== undefined) {
    steps.push({ value: limits.warning, color: 'orange' }, { value: limits.bad, color: 'red' })
  }
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps)
}
