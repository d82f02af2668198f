import { describe, expect, test } from 'vitest'
import { hasEvents } from '../../../src/ledger/tracked-call.ts'
import { commitObservation } from '../../../src/pipeline/pipeline.ts'
import { openTarget, type Target } from '../../../src/pipeline/target.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { INTERVAL, running } from './running.ts'

const DAY = 86_400
const OUTAGE = 10 * INTERVAL

const ended = (id: string, endedAt: number) => seen(id, 'ended', { initiatedAt: endedAt - 5, endedAt })

/**
 * The host's clock steps by so many seconds while the service cannot be reached. Then its list has a call that was over before the target
 * was opened, and one that began and ended since.
 */
async function withStep(seconds: number, baseline: 'skip' | 'count', before: 'no answer' | 'answers') {
  const { clock, service, target, commits } = await running({ pageSize: 10, baseline })
  const opened = CREATED + seconds
  service.ahead = seconds
  if (before === 'no answer') service.fails = () => new ServiceError('network', 'the network is down')
  await clock.advance(OUTAGE)
  clock.stepWall(seconds)
  service.ahead = 0
  await clock.advance(OUTAGE)
  service.calls = [ended('since', opened + OUTAGE), ended('before', opened - 60)]
  service.fails = () => undefined
  await clock.advance(INTERVAL)
  const { calls, sync } = target.ledger
  return {
    setUpAfter: sync.created - opened,
    calls: Array.from(calls.values(), (call) => [call.id, call.phase, hasEvents(call)]),
    gap: commits.find(({ gap }) => gap !== undefined)!.gap!.from - opened,
  }
}

describe("a host's clock that is set between the first start and the first answer", () => {
  test.each([
    ['three days behind', 3 * DAY, 'no answer'],
    ['three days behind while the first answers come', 3 * DAY, 'answers'],
    ['three days ahead', -3 * DAY, 'no answer'],
  ] as const)('and was %s, moves no call to the other side of the set-up', async (_what, seconds, before) => {
    expect(await withStep(seconds, 'skip', before)).toEqual({
      setUpAfter: 0,
      calls: [['since', 'final', true], ['before', 'baseline', true]], // oxfmt-ignore
      gap: 0,
    })
    expect((await withStep(seconds, 'count', before)).calls).toEqual([
      ['since', 'final', true],
      ['before', 'final', false],
    ])
  })
})

describe('the set-up of a target that was opened several times before the first answer', () => {
  async function world() {
    const clock = virtualClock(CREATED - 3 * DAY)
    const store = openSqliteStore({ path: ':memory:' })
    const settings = { target: targetConfig(), poll: pollConfig({ baseline: 'skip' }), rules: [] }
    const open = (before?: Target) => openTarget({ settings, store, clock, before })
    const first = await open()
    await clock.advance(OUTAGE)
    clock.stepWall(3 * DAY)
    await clock.advance(OUTAGE)
    return { open, first, answered: (target: Target) => commitObservation(target, completePoll(3 * OUTAGE)) }
  }

  test('in one process is the first time', async () => {
    const { open, first, answered } = await world()
    const target = await open(first)
    await answered(target)
    expect(target.ledger.sync.created).toBe(CREATED)
  })

  test('in several is that of the process which got the answer, because the clock of another one may have been wrong', async () => {
    const { open, answered } = await world()
    const target = await open()
    await answered(target)
    expect(target.ledger.sync.created).toBe(CREATED + 2 * OUTAGE)
  })
})
