import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { receiversOf } from '../../../src/daemon/notifying/messages-options.ts'
import { testNotify } from '../../../src/daemon/notifying/test-notify.ts'
import type { DaemonParts } from '../../../src/daemon/parts.ts'
import type { Receiver } from '../../../src/notifications/receiver.ts'
import { DeliveryError } from '../../../src/network/delivery-error.ts'
import { RATIO } from '../../kit/alerts/sample-rules.ts'
import { localServer } from '../../kit/commands/local-server.ts'
import { systemClock } from '../../../src/clock/clock.ts'

type Notify = { receivers?: object[]; routes?: object[] }

function partsWith(receivers: readonly Receiver[], notify: Notify = {}): DaemonParts {
  const config = {
    targets: [{ name: 'production' }],
    notify: { receivers: [], routes: [], timezone: undefined, ...notify },
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is used of the parts
  return {
    config: () => config,
    receivers: { all: () => receivers },
    clock: systemClock,
    mask: (text: string) => text.replace('secret', '[masked]'),
  } as unknown as DaemonParts
}

test('test messages go to each receiver, and say what it refuses; a receiver of the state gets them of another one than that which knows what fires', async () => {
  const posted: string[] = []
  const { url } = await localServer((request, response) => {
    void text(request).then((body) => {
      posted.push(body)
      response.writeHead(200).end()
    })
  })
  const sent: string[] = []
  const fails = async () => {
    throw new DeliveryError('it answered 403 to secret', { retryable: false })
  }
  const parts = partsWith(
    [
      { name: 'slack', send: async (message) => void sent.push(message.kind) },
      { name: 'pager', send: fails },
      {
        name: 'am',
        refresh: () => {
          throw new Error('it would take the sample for all that fires')
        },
      },
    ],
    { receivers: [{ name: 'am', type: 'alertmanager', config: { url } }] },
  )
  expect(await testNotify(parts)).toEqual([
    { receiver: 'slack', problem: null },
    { receiver: 'pager', problem: 'it answered 403 to [masked]' },
    { receiver: 'am', problem: null },
  ])
  expect(sent).toEqual(['alerts', 'alerts'])
  expect(posted.join()).toContain('SampleAlert')
})

test('the receivers of a rule are those of its routes for any group of calls, and those of the state, which get all', () => {
  const send = async () => undefined
  const parts = partsWith(
    [
      ...['video-team', 'everybody'].map((name) => ({ name, send })),
      { name: 'am', refresh: () => undefined },
      { name: 'alive', refresh: () => undefined, isHeartbeat: true },
    ],
    {
      routes: [
        { match: { type: 'video' }, notify: ['video-team'] },
        { match: {}, notify: ['everybody'] },
      ],
    },
  )
  expect(receiversOf(parts, RATIO, ['production'])).toEqual(['everybody', 'am'])
  expect(receiversOf(parts, { ...RATIO, by: ['type'] }, ['production']).toSorted()).toEqual([
    'am',
    'everybody',
    'video-team',
  ])
})
