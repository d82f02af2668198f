import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import type { Changes } from '../../src/events/event.ts'
import type { SeenParticipant } from '../../src/ledger/call.ts'
import { openApiDocument } from '../../src/web/api/openapi.ts'
import { readOverview, writeOverview } from '../../src/views/state/overview.ts'
import { ROUTES } from '../../src/web/api/routes.ts'
import { firingOf, RATIO, ruleOn } from '../kit/alerts/sample-rules.ts'
import { finish, finishedCall, firing, NOW, openCall, POLLED } from '../kit/metrics/hand-made-target.ts'
import { KNOWN_LIST, seen } from '../kit/ledger/seen.ts'
import { AUTH, basic, serve, shownTarget } from '../kit/web/serve.ts'

type Request = { headers?: Record<string, string>; body?: string }

type JsonSchema = Record<string, unknown>
type Operation = { responses: Record<string, { content?: Record<string, unknown> }> }

const document: { paths: Record<string, Record<string, Operation>> } = JSON.parse(
  JSON.stringify(openApiDocument(ROUTES)),
)
const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
)

test('the server serves the document of its routes', async () => {
  const { url } = await serve([])
  const response = await fetch(`${url}/api/v1/openapi.json`)
  expect(await response.json()).toEqual(document)
})

test('the document is OpenAPI 3.1', async () => {
  const validator = new Validator()
  expect(await validator.validate(structuredClone(document))).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
})

test('the server answers as the document says, on every path', async () => {
  const { url, append, log } = await serve(TARGETS, {
    auth: AUTH,
    history: [{ target: 'production', call: finishedCall('over') }],
    others: [ELSEWHERE],
    find: () => async () => FOUND,
    webhooks: {
      fine: { deliveredAt: NOW - 1 },
      failing: { failingSince: NOW - 60, problem: 'it answered 500', deadLetters: 2 },
      paused: { paused: 'by hand' },
      removed: { removedAt: NOW - 60 },
    },
  })
  await append(firingOf(RATIO, 'production', NOW, {}))
  await append({ ...firingOf(RATIO, 'production', NOW, {}), kind: 'expired', expiredBecause: 'rule removed' })
  await log(CALL_CHANGES)
  const answered: string[] = []
  const ask = async (operation: string, path: string, init: Request = {}) => {
    const response = await fetch(url + path, {
      ...init,
      method: operation.split(' ')[0]!,
      headers: { ...basic(), ...init.headers },
    })
    const place = placeOf(operation, response)
    answered.push(place)
    const content = await contentOf(response)
    expect([place, problemsOf(place, content)]).toEqual([place, []])
    return content
  }
  const json = { 'content-type': 'application/json' }

  await ask('GET /api/v1/state', '/api/v1/state')
  const etag = (await fetch(`${url}/api/v1/state`, { headers: basic() })).headers.get('etag')!
  await ask('GET /api/v1/state', '/api/v1/state', { headers: { 'if-none-match': etag } })
  await ask('GET /api/v1/alerts', '/api/v1/alerts?since=0')
  await ask('GET /api/v1/rules', '/api/v1/rules')
  await ask('POST /api/v1/test-notify', '/api/v1/test-notify')
  await ask('GET /api/v1/calls', '/api/v1/calls?limit=1')
  await ask('GET /api/v1/calls', '/api/v1/calls?since=0')
  await ask('GET /api/v1/calls', '/api/v1/calls?since=0&format=csv')
  await ask('GET /api/v1/calls', '/api/v1/calls?since=0&format=ndjson')
  await ask('GET /api/v1/call', '/api/v1/call?target=production&call_id=over')
  await ask('GET /api/v1/calls/{target}/{call_id}', '/api/v1/calls/production/over')
  await ask('GET /api/v1/report', '/api/v1/report?since=0&by=day,target')
  await ask('GET /api/v1/report', '/api/v1/report?since=0&format=csv')
  await ask('GET /api/v1/find', '/api/v1/find?target=production&uid=alice')
  await ask('GET /api/v1/series', '/api/v1/series?since=2d')
  const body = JSON.stringify({ match: { target: 'production' }, for: '1m' })
  await ask('POST /api/v1/silences', '/api/v1/silences', { headers: json, body })
  await ask('PATCH /api/v1/silences/{id}', '/api/v1/silences/1', { headers: json, body: '{"for":"2m"}' })
  await ask('DELETE /api/v1/silences/{id}', '/api/v1/silences/1')
  const { events } = JSON.parse(String(await ask('GET /api/v1/events', '/api/v1/events')))
  expect(events).toHaveLength(7)
  const batch = { accept: 'application/cloudevents-batch+json' }
  await ask('GET /api/v1/events', '/api/v1/events', { headers: batch })
  await ask('GET /api/v1/events', '/api/v1/events?latest=9', { headers: { accept: 'text/event-stream' } })
  await ask('GET /api/v1/events', '/api/v1/events?after=1.0.made-up')
  await ask('GET /api/v1/openapi.json', '/api/v1/openapi.json')
  for (const operation of OPERATIONS) {
    await ask(operation, operation.slice(operation.indexOf('/')).replaceAll(/\{\w+\}/g, '7'), {
      headers: basic({ ...AUTH, password: '' }),
    })
  }
  expect([...new Set(answered)].toSorted()).toEqual(documentedPlaces().toSorted())
})

test.each([
  ['a field that is not there', 'POST /api/v1/silences', '201 application/json', { id: undefined }],
  ['a field of another type', 'POST /api/v1/silences', '201 application/json', { id: '1' }],
  ['a field that is not documented', 'POST /api/v1/silences', '201 application/json', { ends: 'soon' }],
  ['one deep down', 'POST /api/v1/silences', '201 application/json', { match: { uid: 'x' } }],
  ['a time that is none', 'POST /api/v1/silences', '201 application/json', { until: 'tomorrow' }],
])('an answer with %s is not as the document says', (_what, operation, answer, wrong) => {
  const at = '2026-09-21T14:13:20.000Z'
  const silence = { id: 1, match: {}, since: at, until: at, reason: '', edits: 0 }
  const place = `${operation} ${answer}`
  expect(problemsOf(place, JSON.stringify(silence))).toEqual([])
  expect(problemsOf(place, JSON.stringify({ ...silence, ...wrong }))).not.toEqual([])
})

/** Clients must accept more fields than are documented; the server must not send them. */
const strictDocument = closed(document) as JsonSchema // oxlint-disable-line typescript/no-unsafe-type-assertion -- a map stays one
const ajv = new Ajv2020({ strict: false, allErrors: true }).addSchema(strictDocument, 'api')
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/).addFormat('date', true)

/** What is wrong with an answer. A place is an operation, a status of the document and a content type. */
function problemsOf(place: string, content: string | undefined): string[] {
  const [method = '', path = '', status = '', type = ''] = place.split(' ')
  if (content === undefined) return type === '-' ? [] : [`${place}: no content`]
  const keys = ['paths', path, method.toLowerCase(), 'responses', status, 'content', type, 'schema']
  const pointer = keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')))
  const validate = ajv.getSchema(`api#/${pointer.join('/')}`)
  if (validate === undefined) return [`${place}: not in the document`]
  void validate(/[/+]json$/.test(type) ? JSON.parse(content) : content)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

function placeOf(operation: string, { status, headers }: Response): string {
  const [method = '', path = ''] = operation.split(' ')
  const isNamed = document.paths[path]?.[method.toLowerCase()]?.responses[status] !== undefined
  return `${operation} ${isNamed ? status : 'default'} ${headers.get('content-type')?.split(';')[0] ?? '-'}`
}

function documentedPlaces(): string[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.entries(responses).flatMap(([status, { content = { '-': {} } }]) =>
        Object.keys(content).map((type) => `${method.toUpperCase()} ${path} ${status} ${type}`),
      ),
    ),
  )
}

/** The content of an answer; of a stream what comes first. */
async function contentOf(response: Response): Promise<string | undefined> {
  if (response.body === null) return undefined
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  for await (const chunk of response.body) return Buffer.from(chunk).toString()
  return ''
}

/** The same schema, which accepts no other fields than those that it names. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== 'object' || node === null) return node
  const inner = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]))
  return 'properties' in inner && !('additionalProperties' in inner) ? { ...inner, additionalProperties: false } : inner
}

const PARTICIPANT: SeenParticipant = {
  uid: 'alice',
  state: 'ended',
  joined: true,
  joinedAt: NOW - 25,
  leftAt: NOW - 10,
  minutes: { audio: 1, video: 0, total: undefined },
}
const PARTIES = { initiator: 'alice', receiver: 'bob' }
const FOUND = {
  calls: [
    seen('a', 'ended', { participants: [PARTICIPANT], parties: PARTIES }),
    seen('b', 'other', { type: undefined }),
  ],
  filter: 'honoured',
  unclear: 0,
  isWhole: true,
} as const
const ENDED = finishedCall('over')
const CALL_CHANGES: Changes['ledger'] = {
  transitions: [
    { call: openCall('a', { status: 'initiated' }), from: 'none', to: 'initiated', observed: true, at: NOW },
    { call: ENDED, from: 'ongoing', to: 'ended', observed: false, participants: [PARTICIPANT], at: NOW },
    { call: openCall('b'), from: 'ongoing', to: 'lost', observed: true, at: NOW },
  ],
  corrections: [{ before: ENDED, call: ENDED, at: NOW }],
  details: [{ call: ENDED, participants: [PARTICIPANT], at: NOW }],
}

/** Targets that have all that a target may have. */
const WARNED = { ...POLLED, clockSkew: 7300, list: KNOWN_LIST, lastSweepBegan: undefined }
const TARGETS = [
  {
    ...shownTarget({
      calls: [openCall('a'), openCall('b', { status: 'initiated' })],
      finished: Array.from({ length: 20 }, () => finish('rejected')),
      rules: [
        { ...RATIO, by: ['type'] },
        ruleOn({ name: 'stuck_calls', longerThan: 3600 }, { name: 'Stuck', match: { mode: 'call' } }),
        ruleOn(
          { name: 'budget_minutes', limit: 1000, of: 'participants', timezone: 'UTC', cycleDay: 1 },
          { name: 'Budget' },
        ),
      ],
      alerts: [firing({ ...RATIO, runbookUrl: 'https://example.test' })],
      sync: WARNED,
      sweepAge: 30,
      problem: 'the key is wrong',
      slowSweep: { pages: 5000, seconds: 1200, polls: 20 },
      refusedFrom: 7,
    }),
    progress: () => ({ pagesRead: 12, pages: undefined }),
  },
  shownTarget({ target: 'new', sync: {} }),
]
const OTHER = shownTarget({ target: 'elsewhere', calls: [openCall('c')] })
const ELSEWHERE = {
  ...readOverview(writeOverview(OTHER, NOW))!,
  name: 'elsewhere',
  owner: 'host, process 7',
  problem: undefined,
}
