import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MATCH_KEYS } from '../../../src/alerts/match-keys.ts'
import { isMap } from '../../../src/schema/path.ts'
import { requestedMatch } from '../../../src/alerts/match.ts'
import { SELECTION_PROBLEMS, silenceBody } from '../../../src/web/api/silences.ts'

const root = join(import.meta.dirname, '../../..')
const doc = readFileSync(join(root, 'docs/webhook.md'), 'utf8')
const fixture = (kind: string): Record<string, unknown> =>
  JSON.parse(
    readFileSync(join(root, `test/unit/notifications/receivers/webhook/fixtures/webhook-${kind}.json`), 'utf8'),
  )
const examples: Record<string, unknown>[] = [...doc.matchAll(/^```json\n(.*?)^```/gms)].map(([, json = '']) =>
  JSON.parse(json),
)

/** The documentation may show only some fields, and some entries of a list. */
function someOf(value: unknown): unknown {
  if (Array.isArray(value)) return expect.arrayContaining(value.map(someOf))
  if (!isMap(value)) return value
  return expect.objectContaining(Object.fromEntries(Object.entries(value).map(([key, one]) => [key, someOf(one)])))
}

test.each(['alerts', 'store'])('docs/webhook.md shows the message of kind %s as the webhook posts it', (kind) => {
  const shown = examples.find((example) => example['kind'] === kind)
  expect(fixture(kind)).toEqual(someOf(shown))
})

test('docs/webhook.md explains every field of a message but those of the API, and every key of a silence', () => {
  const names = new Set<string>([...MATCH_KEYS, 'match', 'all', 'for', 'reason'])
  for (const kind of ['alerts', 'report', 'store']) {
    JSON.stringify(fixture(kind), (name, value: unknown) => {
      if (/^[a-z_]+$/.test(name)) names.add(name)
      return ['incident', 'report'].includes(name) ? undefined : value
    })
  }
  expect(names.size).toBeGreaterThan(40)
  expect([...names].filter((name) => !doc.includes(`\`${name}\``))).toEqual([])
})

test('the silence that docs/webhook.md posts is valid', () => {
  const [, body = ''] = /-d '(.*)'/.exec(doc) ?? []
  const names = { alert: ['HighFailureRate', 'NoCalls'], target: ['production'] }
  const match = { alert: 'NoCalls', target: 'production' }
  const reason = 'maintenance of the carrier'
  const asked = silenceBody.parse(JSON.parse(body))
  expect({ ...asked, match: requestedMatch(asked, names, SELECTION_PROBLEMS) }).toEqual({ match, for: 7200, reason })
  expect(examples).toContainEqual(expect.objectContaining({ match, reason }))
})
