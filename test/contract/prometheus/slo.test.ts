import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { promtool, skipWithoutPromtool } from '../../kit/promtool.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/send-elsewhere.md'), 'utf8')
const [, spec = ''] = /^```yaml\n(version: prometheus\/v1\n.*?)^```/ms.exec(PAGE) ?? []
const [slo] = parse(spec).slos
/** The windows of an alert of sloth with the factor of the budget: the short one and the long one. */
const PAGES = [
  ['5m', '1h', 14.4],
  ['30m', '6h', 6],
] as const

/** The rules of which sloth makes its page alert, for the specification in docs/send-elsewhere.md. */
function rules() {
  const { error_query, total_query } = slo.sli.events
  const inWindow = (query: string, window: string) => query.replaceAll('{{.window}}', window)
  const recorded = PAGES.flatMap(([short, long]) => [short, long]).map((window) => ({
    record: `slo:sli_error:ratio_rate${window}`,
    expr: `(${inWindow(error_query, window)}) / (${inWindow(total_query, window)})`,
  }))
  const budget = 1 - slo.objective / 100
  const exceeds = (window: string, factor: number) => `(slo:sli_error:ratio_rate${window} > (${factor} * ${budget}))`
  const expr = PAGES.map(([short, long, factor]) => `(${exceeds(short, factor)} and ${exceeds(long, factor)})`).join(
    ' or ',
  )
  const alert = { alert: slo.alerting.name, expr, labels: slo.alerting.page_alert.labels }
  return { groups: [{ name: 'slo', rules: [...recorded, alert] }] }
}

test.for<[what: string, unanswered: string, ended: string, fires: boolean]>([
  ['pages in the first minutes of callwatch, if most calls are unanswered', '0+8x20', '0+2x20', true],
  ['does not page for a few calls, all of which are unanswered', '0+1x20', '0+0x20', false],
  ['does not page for the ordinary share', '0+1x20', '0+29x20', false],
])('the SLO of docs/send-elsewhere.md %s', ([, unanswered, ended, fires], context) => {
  skipWithoutPromtool(context)
  using folder = mkdtempDisposableSync(join(tmpdir(), 'callwatch-slo-'))
  const write = (name: string, content: object) => {
    writeFileSync(join(folder.path, name), JSON.stringify(content))
    return join(folder.path, name)
  }
  const series = (status: string, values: string) => ({
    series: `callwatch_calls_total{target="a",mode="call",status="${status}"}`,
    values,
  })
  const test = {
    interval: '1m',
    input_series: [series('unanswered', unanswered), series('ended', ended)],
    alert_rule_test: [
      {
        eval_time: '10m',
        alertname: slo.alerting.name,
        exp_alerts: fires ? [{ exp_labels: { ...slo.alerting.page_alert.labels } }] : [],
      },
    ],
  }
  const file = write('test.yaml', {
    rule_files: [write('rules.yaml', rules())],
    evaluation_interval: '1m',
    tests: [test],
  })
  const { status, stdout, stderr } = promtool(['test', 'rules', file])
  expect(`${stdout}${stderr}`).toContain('SUCCESS')
  expect(status).toBe(0)
})
