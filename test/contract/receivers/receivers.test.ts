import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type * as Masking from '../../../src/config/mask-config.ts'
import type * as Loading from '../../../src/config/load-config.ts'
import type * as JsonSchema from '../../kit/config/config-json-schema.ts'
import type * as ConfiguredReceivers from '../../../src/notifications/configured-receivers.ts'
import { receivers } from '../../../src/notifications/receivers.ts'
import { folderWith } from '../../unit/config/folder-with.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { read, withReceivers, type Received } from '../../kit/notifications/receiver.ts'
import { AT, FIRING, messageOf } from '../../kit/notifications/sample.ts'

const project = join(import.meta.dirname, '../../..')
const opening = withReceivers()

test('every folder of receivers/ is in the list of receivers', () => {
  const folders = readdirSync(join(project, 'src/notifications/receivers'))
  expect(Object.keys(receivers).toSorted()).toEqual(folders.toSorted())
})

const PAGER = `import { nearbyBaseAddress, text } from '../../../schema/scalars.ts'
import { secret } from '../../../schema/secret.ts'
import { section } from '../../../schema/section.ts'
import type { ReceiverType } from '../../receiver.ts'

const pagerSection = section({
  url: nearbyBaseAddress().describe('Its address'),
  routing_key: secret(text('a key'), { of: 'the routing key', about: 'Key of the service', variable: 'PAGER_KEY' }),
})

export const pager: ReceiverType<typeof pagerSection> = {
  about: 'A pager',
  section: pagerSection,
  create: async ({ url, routingKey }, { clock }) => {
    const { httpSender } = await import('../../../network/http-sender.ts')
    const deliver = httpSender({ receiver: 'the pager', url, clock })
    const headers = { authorization: routingKey }
    return { send: ({ kind }) => deliver((request) => request({ method: 'POST', headers, body: kind })) }
  },
}
`

describe('a further receiver costs its folder and a line in the list', () => {
  let scratch = ''
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a copy of what the types are of
  const load = <Module>(name: string) => import(join(scratch, 'src', name)) as Promise<Module>
  const source = (notify: string) => ({
    env: { CALLWATCH_APP_ID: 'a', CALLWATCH_REGION: 'us', CALLWATCH_API_KEY: 'k', PAGER_KEY: 'hunter2' },
    cwd: folderWith({ 'callwatch.yaml': `notify: ${notify}` }),
  })

  beforeAll(() => {
    scratch = mkdtempSync(join(tmpdir(), 'callwatch-receiver-'))
    cpSync(join(project, 'src'), join(scratch, 'src'), { recursive: true })
    const schema = 'test/kit/config/config-json-schema.ts'
    cpSync(join(project, schema), join(scratch, schema))
    symlinkSync(join(project, 'node_modules'), join(scratch, 'node_modules'))
    const notifications = join(scratch, 'src/notifications')
    mkdirSync(join(notifications, 'receivers/pager'))
    writeFileSync(join(notifications, 'receivers/pager/pager.ts'), PAGER)
    const list = readFileSync(join(notifications, 'receivers.ts'), 'utf8')
    writeFileSync(
      join(notifications, 'receivers.ts'),
      `import { pager } from './receivers/pager/pager.ts'\n${list.replace('  slack,\n', '  slack,\n  pager,\n')}`,
    )
  })
  afterAll(() => rmSync(scratch, { recursive: true, force: true }))

  test('it is read from file and environment, routes can name it, and its secret is masked', async () => {
    const { loadConfig } = await load<typeof Loading>('config/load-config.ts')
    const { maskedTree } = await load<typeof Masking>('config/mask-config.ts')
    const config = loadConfig(source('{ pager: { url: "http://pager/" }, routes: [{ notify: [pager] }] }'))
    expect(config.notify).toMatchObject({
      receivers: [{ name: 'pager', config: { url: 'http://pager', routingKey: 'hunter2' } }],
    })
    expect(maskedTree(config)).toMatchObject({
      notify: { pager: { url: 'http://pager', routing_key: '********' }, routes: [{ match: {}, notify: ['pager'] }] },
    })
  })

  test('it is refused where it is incomplete, and where a route names it that is not configured', async () => {
    const { loadConfig } = await load<typeof Loading>('config/load-config.ts')
    const incomplete = source('{ pager: { url: "http://pager" } }')
    const path = 'notify.pager.routing_key'
    const missing = 'missing; expected the routing key, or the name of a file that holds it in `routing_key_file`'
    expect(() => loadConfig({ ...incomplete, env: { ...incomplete.env, PAGER_KEY: '' } })).toThrow(
      expect.objectContaining({ problems: [{ path, message: missing, place: expect.any(String) }] }),
    )
    const unknown = '`pager` is not configured; expected `notify.pager` as well'
    const without = source('{ routes: [{ notify: [pager] }] }')
    expect(() => loadConfig({ ...without, env: { ...without.env, PAGER_KEY: '' } })).toThrow(
      expect.objectContaining({
        problems: [{ path: 'notify.routes[0].notify[0]', message: unknown, place: expect.any(String) }],
      }),
    )
  })

  test('it is in the JSON Schema, which editors and the page of the configuration are made from', async () => {
    const { configJsonSchema } = await load<typeof JsonSchema>('../test/kit/config/config-json-schema.ts')
    expect(configJsonSchema()).toMatchObject({
      properties: {
        notify: {
          properties: {
            pager: {
              description: 'A pager',
              properties: {
                routing_key: { description: 'Key of the service; a secret', examples: ['${PAGER_KEY}'] },
                routing_key_file: { description: 'File that holds the routing key, instead of routing_key' },
              },
            },
          },
        },
      },
    })
  })

  test('it is sent messages, as all that are configured', async () => {
    const received: Received[] = []
    const { url } = await opening.open((request, response) => {
      void read(request).then((got) => {
        received.push(got)
        response.end()
      })
    })
    const { loadConfig } = await load<typeof Loading>('config/load-config.ts')
    const { configuredReceivers } = await load<typeof ConfiguredReceivers>('notifications/configured-receivers.ts')
    const { notify } = loadConfig(source(`{ pager: { url: "${url}" } }`))
    const receivers = await configuredReceivers(notify, { clock: virtualClock(AT) })
    expect(receivers.map(({ receiver }) => receiver.name)).toEqual(['pager'])
    const first = receivers[0]!.receiver
    if ('send' in first) await first.send(messageOf([FIRING]))
    expect(received).toMatchObject([{ method: 'POST', headers: { authorization: 'hunter2' }, body: 'alerts' }])
  })
})
