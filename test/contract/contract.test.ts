import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { configSchema } from '../../src/config/config.ts'
import { describeMetrics } from '../../config/grafana/describe-metrics.ts'
import { configJsonSchema } from '../kit/config/config-json-schema.ts'
import { USAGE_KEYS } from '../../src/history/usage-keys.ts'
import { REPORT_COLUMNS } from '../../src/views/report.ts'
import { placesOf } from '../../src/schema/path.ts'
import { variables } from '../../src/schema/variables.ts'
import { alertHistoryAnswer } from '../../src/views/alert.ts'
import { audit } from '../../src/views/commands/audit.ts'
import { usageAuditDocument } from '../../src/views/commands/audit-usage.ts'
import { backtest } from '../../src/views/commands/backtest.ts'
import { call, calls } from '../../src/views/call.ts'
import { check } from '../../src/views/commands/check.ts'
import { alertEvent, callEvent, printedEvent } from '../../src/views/event.ts'
import { foundCalls } from '../../src/views/found-call.ts'
import { message } from '../../src/notifications/receivers/webhook/webhook-body.ts'
import { report } from '../../src/views/report.ts'
import { silence } from '../../src/views/silence.ts'
import { state } from '../../src/views/state/state.ts'
import { deadLetters, webhook } from '../../src/views/state/webhook-status.ts'
import { migrate } from '../../src/store/sqlite/schema.ts'
import { CALL_FORMATS } from '../../src/views/call-csv.ts'
import { openApiDocument } from '../../src/web/api/openapi.ts'
import { ROUTES } from '../../src/web/api/routes.ts'
import { commandLines } from './printed/command-lines.ts'
import { schemaLines, type JsonSchema } from './printed/schema-lines.ts'
import { exportsOf } from './printed/exports-of.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

test(
  'docs/contract.txt lists all that users can depend on; `npx vitest run test/contract/contract.test.ts -u` updates it',
  { timeout: 60_000 },
  async () => {
    const sections: Record<string, readonly string[]> = {
      'Commands and their options': await commandLines(),
      ...documents(),
      'Keys of the configuration': schemaLines(configJsonSchema(), ['#/$defs/reference']),
      'Variables of the environment that fill keys': placesOf(configSchema, variables).map(
        ({ path, meta }) => `${meta.name} ${path.join('.')}`,
      ),
      Metrics: describeMetrics().map(({ name, type, labels }) => `${name} ${type} ${labels.join(', ')}`.trim()),
      'Rules for Prometheus': ['callwatch-recording', 'callwatch-alerts'].flatMap(rulesOf),
      ...api(),
      'Columns of call_history': columnsOf('call_history'),
      'Columns of alert_history': columnsOf('alert_history'),
      'Columns of CSV: reports': ['row', ...USAGE_KEYS, ...REPORT_COLUMNS.map(({ name }) => name)],
      'Columns of CSV: calls': CALL_FORMATS.csv.header.trimEnd().split(','),
    }
    const printing = sections['Commands and their options']!.filter((line) => line.endsWith(' --json'))
    const titles = Object.keys(sections)
    expect(printing.filter((line) => !titles.some((title) => title.startsWith(`Output of \`${line}\``)))).toEqual([])
    const text = Object.entries(sections).map(([title, lines]) => `## ${title}\n\n${lines.join('\n')}\n`)
    await expect(`${ABOUT}\n${text.join('\n')}`).toMatchFileSnapshot('../../docs/contract.txt')
  },
)

const ABOUT = `The names that users can depend on, as docs/stability.md describes it. A test generates this file: its diff is what a
change means to users. "?" marks what may be missing, "[]" a list, "*" any name, and "(kind=digest)" for which kind it is there.
Exit codes, the values of metrics' labels and the headers of HTTP are in docs/commands.md, docs/metrics.md, docs/api.md and docs/events.md.
`

/** What commands print as JSON, events and messages. */
function documents(): Record<string, string[]> {
  const printed = {
    'Output of `alerts --json`': alertHistoryAnswer,
    'Output of `audit --json`': audit,
    'Output of `audit --usage --json`': usageAuditDocument,
    'Output of `backtest --json`': backtest,
    'Output of `check --json`': check,
    'Output of `find --json`': foundCalls,
    'Output of `report --json`': report,
    'Events of calls': callEvent,
    'Events of alerts': alertEvent.omit({ subject: true }),
    'Output of `alerts calls --json`, each call': call,
    'Output of `calls --json`': calls.pick({ calls: true }),
    'Output of `events --json`, next to the fields of each event': printedEvent.pick({ callwatchcursor: true }),
    'Output of `events webhooks --json`, each webhook': webhook,
    'Output of `status --json`': state,
    'Output of `events webhooks dead --json`': deadLetters,
    'Output of `silence list --json`, each silence': silence,
    'Body of a webhook': message,
  }
  // Without the names of schemas, so that each has its fields.
  const linesOf = (schema: z.ZodType) => schemaLines(z.toJSONSchema(schema, { io: 'input', metadata: z.registry() }))
  return {
    ...Object.fromEntries(Object.entries(printed).map(([title, schema]) => [title, linesOf(schema)])),
    'Exports of the package': exportsOf('src/index.ts'),
  }
}

type OpenApi = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, JsonSchema> }
}
type Operation = {
  parameters?: readonly { in: string; name: string; required?: boolean; schema: JsonSchema }[]
  requestBody?: { content: Contents }
  responses: Record<string, { content?: Contents }>
}
type Contents = Record<string, { schema?: JsonSchema }>

/** Routes with their parameters and responses; and the fields of what these have in common. */
function api(): Record<string, string[]> {
  const { paths, components }: OpenApi = JSON.parse(JSON.stringify(openApiDocument(ROUTES)))
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => routeLines(`${method.toUpperCase()} ${path}`, operation)),
  )
  const fields = Object.entries(components.schemas)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, schema]) => schemaLines(schema).map((line) => `${name}.${line}`))
  return { 'Routes of the API': routes, 'Fields of the API': fields }
}

function routeLines(route: string, { parameters = [], requestBody, responses }: Operation): string[] {
  const body = (kind: string, content: Contents = {}) =>
    Object.entries(content).flatMap(([type, { schema }]) => [
      `${route} ${kind} ${type}`,
      ...(schema === undefined ? [] : schemaLines(schema).map((line) => `${route} ${kind} ${line}`)),
    ])
  return [
    route,
    ...parameters
      .filter((parameter) => parameter.in === 'query')
      .flatMap(({ name, required, schema }) =>
        schemaLines(schema).map((line) => `${route} query ${name}${required === true ? '' : '?'} ${line}`),
      ),
    ...body('body', requestBody?.content),
    ...Object.entries(responses).flatMap(([status, { content }]) =>
      content === undefined ? `${route} ${status}` : body(status, content),
    ),
  ]
}

type Rule = { alert?: string; record?: string; labels?: Record<string, string> }

function rulesOf(file: string): string[] {
  const { groups }: { groups: { rules: Rule[] }[] } = parse(read(`config/prometheus/${file}.yaml`))
  return groups.flatMap(({ rules }) =>
    rules.map(({ alert, record, labels = {} }) =>
      [alert ?? record, ...Object.entries(labels).map(([name, value]) => `${name}=${value}`)].join(' '),
    ),
  )
}

/** Both stores have the same columns: a test of the store compares them with docs/sql.md. */
function columnsOf(relation: string): string[] {
  using db = new DatabaseSync(':memory:')
  migrate(db, ':memory:')
  return db
    .prepare('SELECT name FROM pragma_table_info(?)')
    .all(relation)
    .map(({ name }) => String(name))
}
