import { expect, test } from 'vitest'
import { DeliveryError } from '../../../../src/network/delivery-error.ts'
import type { AlertMessage, Message } from '../../../../src/notifications/message.ts'
import { groupLines, groupTitle } from '../../../../src/notifications/text/group-text.ts'
import { AT, sending, type Receive } from '../../../kit/notifications/delivery/sending.ts'

const GROUPED = { groupBy: ['alert', 'severity'], groupWait: 20, groupInterval: 300, targets: 300 } as const
const high = (n: number) => ({ name: 'HighFailureRate', target: `target ${n}` })

/** A receiver that edits: each message that it posts has a number. */
function board() {
  const posted: AlertMessage[] = []
  const shown = new Map<string, { message: AlertMessage; at: number }>()
  let now = () => 0
  const receive: Receive = async (message: Message) => {
    if (message.kind !== 'alerts') return undefined
    const id = message.thread ?? `${posted.push(message)}`
    shown.set(id, { message, at: now() })
    return id
  }
  return { posted, shown, receive, on: (clock: { monotonic: () => number }) => (now = () => clock.monotonic()) }
}

test('the message of an incident is true within seconds while it grows and shrinks, and is one message', async () => {
  const { posted, shown, receive, on } = board()
  const run = sending({ ...GROUPED, edits: true, receive })
  on(run.clock)
  const firingOn = () => new Set([...run.live.values()].map(({ target }) => target)).size
  const counts: number[] = []
  for (let second = 0; second < 300; second++) {
    if (second < 50) await run.fire(high(second))
    if (second >= 200 && second < 240) await run.resolve(high(second - 200))
    counts.push(firingOn())
    await run.clock.advance(1)
    const message = shown.get('1')?.message
    if (message === undefined) continue
    // An edit is due after fifteen seconds, and looked for every other second.
    expect(counts.slice(-17)).toContain(message.incident?.targets.firing)
  }
  for (let n = 40; n < 50; n++) await run.resolve(high(n))
  await run.clock.advance(2)
  expect(shown.get('1')!.message.incident).toBeUndefined()
  expect(posted).toHaveLength(1)
})

test('the end of an incident is that of all its targets, also of those whose end was shown long before', async () => {
  const { shown, receive } = board()
  const run = sending({ ...GROUPED, edits: true, receive })
  for (let n = 0; n < 6; n++) await run.fire(high(n))
  await run.clock.advance(60)
  for (const n of [0, 1]) await run.resolve(high(n))
  // Told, and longer ago than an interval.
  await run.clock.advance(900)
  for (const n of [2, 3, 4]) await run.resolve(high(n))
  await run.clock.advance(60)
  await run.resolve(high(5))
  await run.clock.advance(2)
  const { message } = shown.get('1')!
  expect(message).toMatchObject({
    about: 'ended',
    target: undefined,
    whole: { targets: 6, since: AT, until: AT + 1020 },
  })
  expect(groupTitle(message)).toBe('HighFailureRate over on all 6 targets')
  expect(groupLines(message)).toContain('Fired from 2026-11-20 08:15:30 UTC to 08:32:30 UTC, for 17m')
})

test('the message says that its numbers are from before', async () => {
  const { shown, receive } = board()
  const run = sending({ ...GROUPED, edits: true, receive, freshFor: 45 })
  await run.fire(high(1))
  await run.clock.advance(40)
  expect(shown.get('1')!.message.incident?.held).toEqual([])
  await run.clock.advance(20)
  expect(shown.get('1')!.message.incident?.held).toEqual([{ for: 'polls', targets: 1, since: AT }])
})

/** A receiver that edits and answers its first message so, and each later one otherwise; what it has seen. */
function answering(first: string | Promise<never>, later: string) {
  const seen: AlertMessage[] = []
  const receive: Receive = async (message) => {
    if (message.kind === 'alerts') seen.push(message)
    return seen.length === 1 ? first : later
  }
  return { seen, run: sending({ ...GROUPED, edits: true, receive }) }
}

test('a process that dies after the message was posted looks for it, as the same incident', async () => {
  // The first attempt never returns: the process dies before.
  const { seen, run } = answering(new Promise(() => undefined), '1')
  await run.fire(high(1))
  await run.clock.advance(22)
  run.restart()
  await run.clock.advance(60)
  const [first, second, ...others] = seen
  expect(second).toMatchObject({ about: 'begins', thread: undefined, unanswered: [{ id: first!.id }] })
  expect(others.length).toBeGreaterThan(1)
  expect(others.every(({ thread, about }) => thread === '1' && about === 'edit')).toBe(true)
})

test('a message that was posted again is edited from then on, also by the next process', async () => {
  const { seen, run } = answering('1', '2')
  await run.fire(high(1))
  await run.clock.advance(40)
  run.restart()
  await run.clock.advance(20)
  const edits = seen.filter(({ continuesIn }) => continuesIn === undefined)
  expect(edits.map(({ thread }) => thread).slice(0, 4)).toEqual([undefined, '1', '2', '2'])
})

test('a message that was posted again while the store is busy is not edited before the store knows it', async () => {
  const { seen, run } = answering('1', '2')
  await run.fire(high(1))
  while (seen.length === 0) await run.clock.advance(1)
  run.broken.add('writeNotified')
  await run.clock.advance(60)
  expect(seen.map(({ thread }) => thread)).toEqual([undefined, '1'])
  run.broken.clear()
  await run.clock.advance(20)
  expect(seen.at(-1)!.thread).toBe('2')
})

test('the messages of thirty incidents are all edited', async () => {
  const { shown, receive, on } = board()
  const run = sending({ groupBy: ['target'], groupWait: 20, groupInterval: 300, targets: 30, edits: true, receive })
  on(run.clock)
  for (let n = 0; n < 30; n++) await run.fire(high(n))
  await run.clock.advance(60)
  const begun = run.clock.monotonic()
  await run.clock.advance(120)
  expect([...shown.values()].filter(({ at }) => at < begun)).toEqual([])
  expect(shown.size).toBe(30)
})

/** An incident of which the receiver knows, and edits that fail or not. */
async function begun(answer: (message: AlertMessage) => Error | undefined) {
  const { posted, shown, receive, on } = board()
  const edits: number[] = []
  const run = sending({
    ...GROUPED,
    edits: true,
    receive: (message, attempt) => {
      if (message.kind !== 'alerts') return undefined
      if (message.about === 'edit') edits.push(run.clock.monotonic())
      return answer(message) ?? receive(message, attempt)
    },
  })
  on(run.clock)
  await run.fire(high(1))
  await run.fire(high(2))
  await run.clock.advance(22)
  return { run, posted, shown, edits }
}

test('edits are fifteen seconds apart', async () => {
  const { run, edits } = await begun(() => undefined)
  await run.clock.advance(100)
  expect(edits.length).toBeGreaterThan(5)
  expect(edits.slice(1).every((at, i) => at - edits[i]! >= 15)).toBe(true)
})

test('edits that fail have pauses of their own, and delay no message', async () => {
  const { run, posted, edits } = await begun(({ about }) => {
    return about === 'edit' ? new DeliveryError('429', { retryable: true, retryAfter: 500 }) : undefined
  })
  await run.clock.advance(100)
  expect(edits).toHaveLength(1)
  const at = run.clock.monotonic()
  await run.fire({ name: 'Other', target: 'target 3' })
  await run.clock.advance(25)
  expect(posted).toHaveLength(2)
  expect(run.received.findLast(([, text]) => text === 'firing Other')![0] - at).toBeLessThanOrEqual(22)
  await run.clock.advance(420)
  expect(edits.length).toBeGreaterThan(1)
})

test('an edit tells what has ended, so that no message does, and not what has begun, so that one will', async () => {
  const { run } = await begun(() => undefined)
  await run.resolve(high(1))
  await run.clock.advance(40)
  await run.fire(high(3))
  await run.clock.advance(400)
  const told = run.messages.flatMap((message) => (message.kind === 'alerts' && message.about !== 'edit' ? message : []))
  const of = ({ alerts }: AlertMessage) => alerts.map(({ notification: { kind, target } }) => `${kind} ${target}`)
  expect(told.map((message) => [message.about, of(message)])).toEqual([
    ['begins', ['firing target 1', 'firing target 2']],
    ['changed', ['firing target 3']],
  ])
})

test('an incident that ended while it was silenced is over in its message, and the next one is posted', async () => {
  const { posted, shown, receive, on } = board()
  const run = sending({ ...GROUPED, edits: true, receive })
  on(run.clock)
  await run.fire(high(1))
  await run.clock.advance(400)
  await run.store.addSilence({ match: { target: 'target 1' }, since: AT, until: AT + 7200, reason: 'deploy' })
  await run.clock.advance(400)
  await run.resolve(high(1))
  await run.clock.advance(60)
  expect(shown.get('1')!.message.incident).toBeUndefined()
  await run.clock.advance(10_000)
  await run.fire(high(1))
  await run.clock.advance(30)
  expect(posted).toHaveLength(2)
})

test('that nothing fires any more is said later if it is refused', async () => {
  let refusals = 1
  const { run, shown } = await begun(({ incident }) => {
    return incident === undefined && refusals-- > 0 ? new DeliveryError('no', { retryable: false }) : undefined
  })
  for (const n of [1, 2]) await run.resolve(high(n))
  await run.clock.advance(400)
  expect(shown.get('1')!.message.incident).toBeUndefined()
})
