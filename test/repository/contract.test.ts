import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { configSchema } from '../../src/config/config.ts'
import { configJsonSchema } from '../../src/config/json-schema.ts'
import { USAGE_COLUMNS, USAGE_KEYS } from '../../src/history/usage.ts'
import { describeMetrics } from '../../src/metrics/registry.ts'
import { placesOf } from '../../src/schema/path.ts'
import { variables } from '../../src/schema/variables.ts'
import { migrate } from '../../src/store/sqlite/schema.ts'
import { CALL_FORMATS } from '../../src/web/api/calls.ts'
import { openApiDocument } from '../../src/web/api/openapi.ts'
import { ROUTES } from '../../src/web/api/routes.ts'
import { commandLines } from './contract/command-lines.ts'
import { schemaLines, type JsonSchema } from './contract/schema-lines.ts'
import { withTypes } from './contract/type-lines.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

test(
  'docs/contract.txt lists all that users can depend on; `npx vitest run test/repository/contract.test.ts -u` updates it',
  { timeout: 60_000 },
  async () => {
    const sections: Record<string, readonly string[]> = {
      'Commands and their options': await commandLines(),
      ...jsonOutputs(),
      'Keys of the configuration': schemaLines(configJsonSchema(), ['#/$defs/reference']),
      'Variables of the environment that fill keys': placesOf(configSchema, variables).map(
        ({ path, meta }) => `${meta.name} ${path.join('.')}`,
      ),
      Metrics: describeMetrics().map(({ name, type, labels }) => `${name} ${type} ${labels.join(', ')}`.trim()),
      'Rules for Prometheus': ['callwatch-recording', 'callwatch-alerts'].flatMap(rulesOf),
      ...api(),
      'Columns of call_history': columnsOf('call_history'),
      'Columns of alert_history': columnsOf('alert_history'),
      'Columns of CSV: reports': [...USAGE_KEYS, ...Object.keys(USAGE_COLUMNS), 'blind_seconds'],
      'Columns of CSV: calls': CALL_FORMATS.csv.header.trimEnd().split(','),
    }
    const text = Object.entries(sections).map(([title, lines]) => `## ${title}\n\n${lines.join('\n')}\n`)
    await expect(`${ABOUT}\n${text.join('\n')}`).toMatchFileSnapshot('../../docs/contract.txt')
  },
)

const ABOUT = `The names that users can depend on, as docs/stability.md describes it. A test generates this file: its diff is what a
change means to users. "?" marks what may be missing, "[]" a list, "*" any name, and "(kind=digest)" for which kind it is there.
Exit codes, the values of metrics' labels and the headers of HTTP are in docs/commands.md, docs/metrics.md, docs/api.md and docs/events.md.
\`events --json\` prints events with \`callwatchcursor\`.
`

/** The bodies and documents that only types of the code describe. */
function jsonOutputs(): Record<string, string[]> {
  return withTypes(({ fieldsOf, exportsOf }) => ({
    'Output of `alerts --json`': fieldsOf('src/history/alert-history.ts', 'AlertHistory'),
    'Output of `audit --json`': fieldsOf('src/commands/audit/audit.ts', 'AuditDocument'),
    'Output of `backtest --json`': fieldsOf('src/commands/alerts/backtest.ts', 'jsonOf'),
    'Output of `check --json`': fieldsOf('src/commands/check.ts', 'CheckDocument'),
    'Output of `report --json`': fieldsOf('src/history/usage.ts', 'usageReport'),
    'Events of calls': fieldsOf('src/events/types.ts', 'CallEvent'),
    'Events of alerts': fieldsOf('src/events/types.ts', 'AlertEvent'),
    'Output of `alerts calls --json`, each call': fieldsOf('src/events/call-data.ts', 'callRowView'),
    'Output of `events webhooks --json`, each webhook': fieldsOf('src/events/webhooks/webhook-views.ts', 'WebhookView'),
    'Output of `events webhooks dead --json`': fieldsOf('src/commands/webhooks.ts', 'DeadLetters'),
    'Output of `silence list --json`, each silence': fieldsOf('src/web/api/silences.ts', 'SilenceView'),
    'Body of a webhook': fieldsOf('src/notifications/receivers/webhook/webhook-send.ts', 'WebhookBody'),
    'Body of a webhook, `format: alertmanager`': fieldsOf(
      'src/notifications/receivers/webhook/alertmanager-body.ts',
      'alertmanagerBody',
    ),
    'Exports of the package': exportsOf('src/index.ts'),
  }))
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
