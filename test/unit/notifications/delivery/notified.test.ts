import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  readNotified,
  type Known,
  type Notified,
  type Telling,
} from '../../../../src/notifications/delivery/notified.ts'
import { StoreError } from '../../../../src/store/store-error.ts'
import { openSqliteStore } from '../../../../src/store/open-sqlite.ts'
import { virtualClock, type VirtualClock } from '../../../kit/virtual-clock.ts'
import { AT, changeOf } from '../../../kit/notifications/delivery/sending.ts'
import { runs } from '../../../kit/runs.ts'

const NAMES = ['A', 'B', 'C', 'D']
/** Some alert, as it fires since so many seconds. */
const subject = (name: string, since = 0) => changeOf({ name }, 'firing', AT + since)
const names = (all: readonly Known[]) => all.map(({ key }) => key).toSorted()

function telling(id: string, given: Partial<Telling> = {}): Telling {
  return { id, thread: undefined, heard: [], begun: [], firing: [], ended: [], was: [], notices: () => [], ...given }
}

async function receiver(clock: VirtualClock = virtualClock(AT)) {
  const store = openSqliteStore({ path: ':memory:' })
  const open = async () => (await readNotified(['slack'], { clock, store })).get('slack')!
  const first = await open()
  await first.flush()
  return { clock, store, open, first }
}

/** All that a process knows, whatever its order. */
function knownBy(notified: Notified) {
  const sorted = (all: readonly Known[]) => all.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  return {
    entries: sorted(notified.entries()),
    attempts: notified
      .attempts()
      .map((one) => ({ ...one, begun: sorted(one.begun), ended: sorted(one.ended) }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    state: notified.state(),
  }
}

type Step = {
  kind: 'begin' | 'accept' | 'fail' | 'edit' | 'forget'
  of: readonly string[]
  ends: readonly string[]
  since: number
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('begin', 'begin', 'accept', 'accept', 'fail', 'edit', 'forget'),
  of: fc.subarray(NAMES),
  ends: fc.subarray(NAMES),
  since: fc.nat({ max: 2 }),
})

/** Carries out a step, as a sender does. */
async function take(notified: Notified, { kind, of, ends, since }: Step, id: string): Promise<void> {
  const heard = notified.entries().filter(({ key }) => of.includes(key))
  const open = heard.filter(({ ended }) => ended === undefined)
  const ended = open.filter(({ key }) => ends.includes(key))
  const firing = of.filter((name) => !ends.includes(name)).map((name) => subject(name, since))
  const begun = firing.filter(({ key }) => !open.some((one) => one.key === key))
  const message = telling(id, { heard, firing, begun, ended, thread: open[0]?.thread })
  const [attempt] = notified.attempts()
  if (kind === 'begin' && begun.length + ended.length > 0) await notified.begin(message)
  if (kind === 'accept')
    await notified.accepted({ ...message, id: attempt?.id ?? id }, since === 1 ? `at ${id}` : undefined)
  if (kind === 'fail' && attempt !== undefined) await notified.failed(telling(attempt.id, attempt), true, undefined)
  if (kind === 'edit') await notified.edited(message, open[0]?.thread ?? id)
  if (kind === 'forget') await notified.forget(heard.filter((one) => one.ended !== undefined))
}

test('what a receiver was told is read by the next process as it was, whatever was sent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const { clock, open, first } = await receiver()
      for (const [i, one] of steps.entries()) {
        await clock.advance(7)
        await take(first, one, `message ${i}`)
        expect(knownBy(await open())).toEqual(knownBy(first))
      }
    }),
    { numRuns: runs(100) },
  )
})

test('a store that fails is written later, and then has it all', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(step, fc.boolean()), { minLength: 1, maxLength: 8 }), async (steps) => {
      const { clock, store, open } = await receiver()
      let isBroken = false
      const write: typeof store.writeNotified = async (change) => {
        if (isBroken) throw new StoreError('unavailable', 'busy')
        return store.writeNotified(change)
      }
      const options = { clock, store: { notified: store.notified, writeNotified: write } }
      const own = (await readNotified(['slack'], options)).get('slack')!
      for (const [i, [one, fails]] of steps.entries()) {
        // An attempt that cannot be written is not begun, and needs all before it to be written.
        isBroken = fails && one.kind !== 'begin'
        if (one.kind === 'begin') await own.flush()
        await take(own, one, `message ${i}`)
      }
      isBroken = false
      await own.flush()
      expect(knownBy(await open())).toEqual(knownBy(own))
    }),
    { numRuns: runs(50) },
  )
})

describe('a receiver', () => {
  test('that is new was told nothing, of which only what ends later needs word', async () => {
    const { store, open } = await receiver()
    expect((await open()).state()).toEqual({ added: AT, cursor: AT, reports: {}, setUps: {} })
    expect((await store.notified()).rows).toEqual([])
  })

  test('knows what an accepted message began and showed, and since when', async () => {
    const { clock, first } = await receiver()
    await first.begin(telling('1', { begun: [subject('A')] }))
    expect([names(first.entries()), first.attempts()]).toEqual([[], [expect.objectContaining({ id: '1', at: AT })]])
    await clock.advance(5)
    await first.accepted(telling('1', { begun: [subject('A')], firing: [subject('A'), subject('B')] }), undefined)
    expect([names(first.entries()), first.attempts()]).toEqual([['A', 'B'], []])
    expect(first.entries()[0]).toMatchObject({ at: AT + 5, thread: '1', endedAt: undefined })
  })

  test.each([
    ['the message of a bot', 'ts', 'ts'],
    ['the first message', undefined, '1'],
  ])('goes on with %s', async (_what, posted, thread) => {
    const { first } = await receiver()
    await first.accepted(telling('1', { firing: [subject('A')] }), posted)
    const heard = first.entries()
    await first.accepted(telling('2', { heard, firing: [subject('A')], thread: heard[0]!.thread }), posted)
    expect(first.entries().map((one) => one.thread)).toEqual([thread])
  })

  test('that knows an alert, which ended and fires again, knows both', async () => {
    const { first } = await receiver()
    await first.accepted(telling('1', { firing: [subject('A')] }), undefined)
    await first.accepted(telling('2', { heard: first.entries(), firing: [subject('A', 60)] }), undefined)
    expect(first.entries().map(({ firingSince, ended }) => [firingSince - AT, ended])).toEqual([
      [0, AT],
      [60, undefined],
    ])
  })

  test('remembers what it was told in one line: that it began and ended', async () => {
    const { first } = await receiver()
    await first.accepted(telling('1', { was: [subject('A')] }), undefined)
    expect(first.entries()).toMatchObject([{ key: 'A', ended: AT }])
  })

  test('may know of each attempt without an answer, until an accepted message tells of the same alert', async () => {
    const { first } = await receiver()
    await first.begin(telling('1', { begun: [subject('A'), subject('B')] }))
    await first.begin(telling('2', { ended: [subject('C')] }))
    await first.accepted(telling('3', { firing: [subject('A')] }), undefined)
    expect(first.attempts().map(({ begun, ended }) => [names(begun), names(ended)])).toEqual([
      [['B'], []],
      [[], ['C']],
    ])
    await first.failed(telling('2', {}), true, undefined)
    expect(first.attempts().map(({ id }) => id)).toEqual(['1'])
  })

  test('of an edit learns ends, not beginnings, and where the message is now', async () => {
    const { first } = await receiver()
    await first.accepted(telling('1', { firing: [subject('A'), subject('B')] }), 'ts 1')
    const heard = first.entries()
    await first.edited(
      telling('2', { heard, begun: [subject('C')], firing: [subject('B'), subject('C')], ended: [subject('A')] }),
      'ts 2',
    )
    expect(first.entries().map(({ key, ended, thread }) => [key, ended, thread])).toEqual([
      ['A', AT, 'ts 2'],
      ['B', undefined, 'ts 2'],
    ])
  })

  test('counts its times by the monotonic clock, and by the stored ones after a restart', async () => {
    const { clock, open, first } = await receiver()
    await first.accepted(telling('1', { firing: [subject('A')] }), undefined)
    await clock.advance(10)
    clock.stepWall(3600)
    expect(clock.monotonic() - first.entries()[0]!.heardAt).toBe(10)
    expect(clock.monotonic() - (await open()).entries()[0]!.heardAt).toBe(3610)
    clock.stepWall(-7200)
    expect(clock.monotonic() - (await open()).entries()[0]!.heardAt).toBe(0)
  })
})

test('what is written at the same time is written in turn, and once each', async () => {
  const { store } = await receiver()
  const written: unknown[] = []
  const slow = {
    notified: store.notified,
    writeNotified: async ({ receiver: one }: Parameters<typeof store.writeNotified>[0]) => {
      await new Promise((resolve) => setImmediate(resolve))
      written.push(one?.state.cursor)
    },
  }
  const notified = (await readNotified(['slack'], { clock: virtualClock(AT), store: slow })).get('slack')!
  await Promise.all([1, 2, 3].map((cursor) => notified.set({ ...notified.state(), cursor })))
  expect(written).toEqual([1, 2, 3])
})
