import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { callsClient } from '../../../src/service/calls-client.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import { newWebhooks } from '../../../src/simulator/answers/webhooks.ts'
import { readWebhook } from '../../../src/web/hooks.ts'
import { pollSection } from '../../../src/polling/poll-section.ts'
import { ask, getCall, list, serviceOf, START } from '../../kit/world/request-service.ts'
import { advance } from '../../../src/simulator/calls/world.ts'
import { answer, never } from './fake-transport.ts'

/**
 * What the vendor publishes: its reference, and its clients where they differ; and what was seen on the live service. Each file was
 * made by hand: what the service sends, and what callwatch must read from it.
 */
type Published = {
  about: string
  /** An answer of List Calls, and its calls as they are read. */
  list?: { data: unknown[] }
  total?: number
  totalPages?: number
  /** An answer of Get Call, and the call as it is read. */
  get?: unknown
  reads?: [object, ...object[]]
  /** The body of a webhook, and what it hints. */
  webhook?: { trigger: string; appId: string }
  hint?: object
  /** The body of an error, and its kind. */
  error?: unknown
  kind?: string
}

const filesIn = (folder: string) =>
  globSync(join(import.meta.dirname, folder, '*.json'))
    .toSorted()
    .map((file): [string, Published] => [basename(file, '.json'), JSON.parse(readFileSync(file, 'utf8'))])
const [published, seen] = [filesIn('published'), filesIn('seen')]
const withPart = (part: keyof Published, among = published) => among.filter(([, one]) => part in one)

const clientOf = (body: unknown, status = 200) =>
  callsClient(async () => answer({ status, body }), {
    apiKey: 'k',
    query: {},
    ...pollSection.parse({}),
    wall: () => 1_790_001_000,
  })

test.each([...withPart('list'), ...withPart('list', seen)])(
  '%s is read from List Calls',
  async (_name, { list: body, reads, total, totalPages }) => {
    const page = await clientOf(body).listCalls(1, never)
    expect(page).toMatchObject({ calls: reads, invalid: {}, items: reads!.length, total, totalPages })
  },
)

test('a call that failed is read with no end, and the simulator shows none', async () => {
  const { calls } = await clientOf(seen[0]![1].list).listCalls(1, never)
  expect(calls).toMatchObject([{ startedAt: undefined, endedAt: undefined, end: undefined, mid: undefined }])
  const { data } = list(serviceOf({ history: 200 }), START, 'perPage=100')
  const failed = data.filter(({ status }) => status === 'rejected')
  expect(failed.length).toBeGreaterThan(3)
  for (const call of failed)
    for (const absent of ['endedAt', 'startedAt', 'mid']) expect(call).not.toHaveProperty(absent)
})

test.each(withPart('get'))('%s is read from Get Call', async (_name, { get, reads }) => {
  expect(await clientOf(get).getCall('v1.us.app.1', never)).toMatchObject({ calls: reads })
})

test.each(withPart('webhook'))('%s is read', (_name, { webhook, hint }) => {
  expect(readWebhook(Buffer.from(JSON.stringify(webhook)))).toMatchObject({ appId: webhook!.appId, hint })
})

test.each(withPart('error'))('%s is read, whatever the HTTP status', async (_name, { error, kind }) => {
  for (const status of [200, 400, 401, 403, 404, 429, 500]) {
    const failed = await clientOf(error, status)
      .getCall('a', never)
      .catch((reason: unknown) => reason)
    expect(failed).toBeInstanceOf(ServiceError)
    expect(failed).toMatchObject({ kind })
  }
})

/** The places of a value with the types there: `data[].participants[].isJoined boolean`. */
function shapeOf(value: unknown, place = ''): string[] {
  if (Array.isArray(value)) return [`${place} list`, ...value.flatMap((item) => shapeOf(item, `${place}[]`))]
  if (typeof value !== 'object' || value === null) return [`${place} ${value === null ? 'null' : typeof value}`]
  return Object.entries(value).flatMap(([key, item]) => shapeOf(item, place === '' ? key : `${place}.${key}`))
}
const shapesOf = (values: readonly unknown[]) => new Set(values.flatMap((value) => shapeOf(value)))

describe('the simulator answers as published:', () => {
  const service = serviceOf({ history: 400, open: 20, callsPerMinute: 10, switches: { perPage: 'honoured' } })

  test('List Calls', () => {
    const answers = [1, 2, 3, 4].map((page) => list(service, START, `perPage=100&page=${page}`))
    const shape = shapesOf(answers)
    const expected = shapesOf(withPart('list').map(([, one]) => one.list))
    expect([...shape].filter((place) => !expected.has(place))).toEqual([])
    // Some samples have it.
    expect([...expected].filter((place) => !shape.has(place))).toEqual(['meta.pagination.per_page number'])
  })

  test('Get Call', () => {
    const [first] = list(service, START, 'perPage=1').data
    const expected = shapesOf(withPart('list').map(([, one]) => ({ data: one.list!.data[0] })))
    const shape = shapesOf([JSON.parse(getCall(service, START, first!.sessionId).body)])
    expect([...shape].filter((place) => !expected.has(place))).toEqual([])
  })

  test('errors', () => {
    const expected = shapesOf(withPart('error').map(([, one]) => one.error))
    const refused = ['/v3/calls/none', '/v3/none'].map(
      (path) => JSON.parse(ask(service, START, path, '').body) as unknown,
    )
    expect([...shapesOf(refused)].filter((place) => !expected.has(place))).toEqual([])
  })

  test('webhooks', () => {
    const webhooks = newWebhooks(service)
    advance(service.world, START + 3600, service.switches)
    const sent: { trigger: string }[] = webhooks.due().map(({ body }) => JSON.parse(body))
    const triggers = Map.groupBy(sent, ({ trigger }) => trigger)
    expect(triggers.size).toBeGreaterThanOrEqual(8)
    for (const [trigger, bodies] of triggers) {
      const [, one] = withPart('webhook').find(([, { webhook }]) => webhook!.trigger === trigger)!
      expect([trigger, [...shapesOf(bodies)].toSorted()]).toEqual([trigger, [...shapesOf([one.webhook])].toSorted()])
    }
  })
})
