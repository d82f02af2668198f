import { NEVER, of } from 'rxjs'
import { expect, test } from 'vitest'
import { configOf } from '../../../src/config/config.ts'
import { newNotifying, notifying } from '../../../src/daemon/notifying.ts'
import type { DaemonParts } from '../../../src/daemon/open-parts.ts'
import { deliveryFailures } from '../../../src/notifications/delivery/delivery-failures.ts'
import type { Message } from '../../../src/notifications/message.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { AT } from '../../kit/notifications/notifying-daemon.ts'
import { DIGEST } from '../../kit/notifications/sample.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'

const DAY = 86_400

test('a receiver gets the report of a set-up once, also after days of other reports', async () => {
  const clock = virtualClock(AT)
  const config = configOf({
    targets: [{ name: 'production', base_url: 'http://127.0.0.1:1/v3', api_key: 'key' }],
    notify: { slack: { webhook_url: 'https://slack.test/' } },
  })
  const sent: Message['kind'][] = []
  const slack = { name: 'slack', send: async ({ kind }: Message) => void sent.push(kind) }
  const parts = {
    clock,
    store: openSqliteStore({ path: ':memory:' }),
    failures: deliveryFailures((text) => text),
    config: () => config,
    receivers: { all: () => [slack], names: () => ['slack'] },
    targets: { all: () => ['production'], loaded: () => [] },
    overviews: { isComplete: () => true, others: () => [] },
    ownership: { isLeader: () => true, wasLeader: () => true, membership: () => undefined },
    health: { latest: () => undefined },
    draining$: NEVER,
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts that notifying needs
  const daemon = parts as unknown as DaemonParts
  const notified = newNotifying(daemon)
  const running = notifying(daemon, of(config), notified).subscribe()
  await clock.advance(1)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what it says is not read
  const message = (kind: 'past' | 'digest') => ({ kind, day: '2026-11-20', targets: [] }) as unknown as Message
  const add = (keys: string[], due: number, until: number, kind: 'past' | 'digest') =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    notified.add({ keys, due, until, message: message(kind) } as Parameters<typeof notified.add>[0])
  add(['past of production before 1'], Infinity, clock.wall() + DAY, 'past')
  await clock.advance(3)
  for (let day = 1; day <= 3; day += 1) {
    clock.stepWall(DAY)
    add([`digest of day ${day}`], clock.wall(), clock.wall() + DAY / 2, 'digest')
    await clock.advance(3)
  }
  running.unsubscribe()
  expect(sent).toEqual(['past', 'digest', 'digest', 'digest'])
})

test('without a receiver, a report is lines of the log, once', async () => {
  const lines: string[] = []
  const parts = {
    clock: virtualClock(AT),
    log: { info: (_fields: object, line: string) => lines.push(line) },
    receivers: { all: () => [], names: () => [] },
    store: { notified: async () => ({ rows: [], receivers: new Map() }) },
    ownership: { membership: () => undefined },
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts that it needs
  const notified = newNotifying(parts as unknown as DaemonParts)
  const isReported = async () => (await notified.isReported())('digest of 2026-11-19')
  expect(await isReported()).toBe(false)
  notified.add({ keys: ['digest of 2026-11-19'], due: AT, until: AT + DAY, message: DIGEST })
  expect(lines).toEqual([
    expect.stringMatching(/^digest of 2026-11-19: 1,204 calls/),
    ...Array.from({ length: 2 }, () => expect.stringMatching(/^digest of /)),
  ])
  expect(await isReported()).toBe(true)
})
