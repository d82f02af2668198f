import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { configSchema } from '../../src/config/config.ts'
import { configJsonSchema } from '../../src/config/json-schema.ts'
import { describeMetrics } from '../../src/metrics/registry.ts'
import { placesOf } from '../../src/schema/places.ts'
import { variables } from '../../src/schema/variables.ts'
import { migrate } from '../../src/store/sqlite/schema.ts'
import { commandLines } from './contract/command-lines.ts'
import { schemaLines, type JsonSchema } from './contract/schema-lines.ts'
import { withTypes } from './contract/type-lines.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

test('docs/contract.txt lists all that users can depend on; `npx vitest run test/repository/contract.test.ts -u` updates it', async () => {
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
  }
  const text = Object.entries(sections).map(([title, lines]) => `## ${title}\n\n${lines.join('\n')}\n`)
  await expect(`${ABOUT}\n${text.join('\n')}`).toMatchFileSnapshot('../../docs/contract.txt')
})

const ABOUT = `Everything that users can depend on, as docs/stability.md describes it. A test generates this file: its diff is what a
change means to users. "?" marks what may be missing, "[]" a list, "*" any name.
`

/** The bodies and documents that only types of the code describe. */
function jsonOutputs(): Record<string, string[]> {
  return withTypes(({ fieldsOf, exportsOf }) => ({
    'Output of `alerts --json`': fieldsOf('src/history/alert-history.ts', 'AlertHistory'),
    'Output of `audit --json`': fieldsOf('src/commands/audit.ts', 'AuditDocument'),
    'Output of `backtest --json`': fieldsOf('src/commands/backtest.ts', 'jsonOf'),
    'Output of `check --json`': fieldsOf('src/commands/check.ts', 'CheckDocument'),
    'Output of `report --json`': fieldsOf('src/history/usage-report.ts', 'usageReport'),
    Events: fieldsOf('src/events/types.ts', 'CallwatchEvent'),
    'Body of a webhook': fieldsOf('src/notifications/receivers/webhook/webhook-body.ts', 'WebhookBody'),
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
  parameters?: readonly { in: string; name: string; schema: JsonSchema }[]
  requestBody?: { content: Contents }
  responses: Record<string, { content?: Contents }>
}
type Contents = Record<string, { schema?: JsonSchema }>

/** Routes with their parameters and responses; and the fields of what these have in common. */
function api(): Record<string, string[]> {
  const { paths, components }: OpenApi = JSON.parse(read('src/web/openapi.json'))
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => routeLines(`${method.toUpperCase()} ${path}`, operation)),
  )
  const fields = Object.entries(components.schemas).flatMap(([name, schema]) =>
    schemaLines(schema).map((line) => `${name}.${line}`),
  )
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
    ...parameters.flatMap(({ name, schema }) => schemaLines(schema).map((line) => `${route} ?${name} ${line}`)),
    ...body('body', requestBody?.content),
    ...Object.entries(responses).flatMap(([status, { content }]) => body(status, content)),
  ]
}

type Rule = { alert?: string; record?: string; labels?: Record<string, string> }

function rulesOf(file: string): string[] {
  const { groups }: { groups: { rules: Rule[] }[] } = parse(read(`config/prometheus/${file}.yaml`))
  return groups.flatMap(({ rules }) =>
    rules.map(({ alert, record, labels = {} }) => [alert ?? record, ...Object.values(labels)].join(' ')),
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
