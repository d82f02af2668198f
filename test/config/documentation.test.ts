import { expect, test } from 'vitest'
import { configJsonSchema } from '../../src/config/json-schema.ts'

/** As far as the page needs to know of a JSON Schema. */
type Node = {
  description?: string
  default?: unknown
  properties?: Record<string, Node>
  items?: Node
  anyOf?: Node[]
  oneOf?: Node[]
  writeOnly?: boolean
  enum?: unknown[]
  const?: unknown
}

test('docs/configuration.md lists every key as it is; `npx vitest run test/config -u` writes it anew', async () => {
  const { properties = {} } = configJsonSchema() as Node
  const rows = Object.entries(properties).flatMap(([name, node]) => rowsOf(name, node))
  expect(rows.length).toBeGreaterThan(80)
  await expect(page(rows)).toMatchFileSnapshot('../../docs/configuration.md')
})

function page(rows: readonly string[]): string {
  return `# Configuration

Generated from the schema by \`npx vitest run test/config -u\`; do not edit it by hand.
[callwatch.example.yaml](../config/callwatch.example.yaml) has the same keys in a file, with longer comments, and
[callwatch.schema.json](../config/callwatch.schema.json) lets an editor complete and check one. Durations are written like \`15s\`, \`5m\`,
\`24h\`. \`\${NAME}\` is replaced from the environment anywhere, and each secret \`x\` may stand in a file of its own, named by \`x_file\`, which is
read again when it changes. What rules look at, and when they speak, stands in [alerting](alerting.md).

| Key | Default | Meaning |
|---|---|---|
${rows.join('\n')}
`
}

/** A row for each key, and for each key in it: a list's entry is \`[]\`, any name of a map is \`NAME\`. */
function rowsOf(path: string, node: Node): string[] {
  const { description = '', default: preset, anyOf = [], oneOf = [] } = node
  const fallback = typeof preset === 'string' || typeof preset === 'number' ? `\`${preset}\`` : ''
  const own = description === '' ? [] : [`| \`${path}\` | ${fallback} | ${cell(description)} |`]
  const inner = [node, ...anyOf, ...oneOf].flatMap(({ properties = {}, items }) => [
    ...Object.entries(properties).flatMap(([name, child]) => rowsOf(`${path}.${name}`, child)),
    ...(items === undefined ? [] : rowsOf(`${path}[]`, items)),
  ])
  return [...new Set([...own, ...inner])]
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
