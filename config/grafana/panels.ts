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

/** The Prometheus that is chosen at the top of the dashboard. */
export const CHOSEN: DataSourceRef = { type: 'prometheus', uid: '${datasource}' }

/** PromQL by what the legend calls it; `{{label}}` in the legend is that label's value. */
export type Queries = Readonly<Record<string, string>>

/** What every panel has; `width` of 24 columns, `unit` by Grafana's name. */
type Common = { title: string; about: string; width: number; unit?: string; queries: Queries }

/** Limits from which on a value is warned of, and from which on it is bad. */
type Limits = { warning: number; bad: number }

export type Graph = Common & {
  stacked?: boolean
  limits?: Limits
  most?: number
  colors?: Readonly<Record<string, string>>
}

/** Values over time. */
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
    .datasource(CHOSEN)
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
    // oxlint-disable-next-line unicorn/no-array-sort -- it is no array
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .targets(rangeQueries(queries))
  if (stacked) panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'))
  if (rest.most !== undefined) panel.max(rest.most)
  if (rest.limits !== undefined) {
    panel
      .thresholds(thresholds(rest.limits))
      .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed))
  }
  for (const [name, color] of Object.entries(rest.colors ?? {})) {
    panel.overrideByName(name, [{ id: 'color', value: { mode: 'fixed', fixedColor: color } }])
  }
  return panel
}

export type Figure = Common & {
  decimals?: number
  limits?: Limits
  today?: boolean
  noneMeans?: string
}

/** A number, as it is now; with `today` over the day so far, which the queries call `$__range`. */
export function figure({ title, about, width, unit = 'short', queries, ...rest }: Figure): StatBuilder {
  const panel = new StatBuilder()
    .title(title)
    .description(about)
    .datasource(CHOSEN)
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
  if (rest.noneMeans !== undefined) panel.noValue(rest.noneMeans)
  return panel
}

/** What is 1 where all is well and 0 where it is not, over time. */
export function healthTimeline({ title, about, width, queries }: Omit<Common, 'unit'>): StateTimelineBuilder {
  return new StateTimelineBuilder()
    .title(title)
    .description(about)
    .datasource(CHOSEN)
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

/** The series that there are now, a row each; `hidden` are columns that say nothing. */
export function list({
  title,
  about,
  width,
  queries,
  hidden,
  noneMeans,
}: Omit<Common, 'unit'> & { hidden: readonly string[]; noneMeans?: string }): TableBuilder {
  const panel = new TableBuilder()
    .title(title)
    .description(about)
    .datasource(CHOSEN)
    .span(width)
    .height(8)
    .targets(instantQueries(queries, PromQueryFormat.Table))
    .withTransformation({
      id: 'organize',
      options: { excludeByName: Object.fromEntries(hidden.map((name) => [name, true])) },
    })
  if (noneMeans !== undefined) panel.noValue(noneMeans)
  return panel
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
      .datasource(CHOSEN)
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
