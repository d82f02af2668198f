import { expect, test } from 'vitest'
import { DeliveryError } from '../../../../src/network/delivery-error.ts'
import type { AlertMessage, Message } from '../../../../src/notifications/message.ts'
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
    const id = message.posted ?? `${posted.push(message)}`
    shown.set(id, { message, at: now() })
    return id
  }
  return { posted, shown, receive, on: (clock: { monotonic: () => number }) => (now = () => clock.monotonic()) }
}

test('the message of an incident is true within fifteen seconds while it grows and shrinks, and is one message', async () => {
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
    // What it shows was so within the last fifteen seconds.
    expect(counts.slice(-15)).toContain(message.incident?.targets.firing)
  }
  for (let n = 40; n < 50; n++) await run.resolve(high(n))
  await run.clock.advance(2)
  expect(shown.get('1')!.message.incident).toBeUndefined()
  expect(posted).toHaveLength(1)
})

test('the message says since when its numbers stand', async () => {
  const { shown, receive } = board()
  const run = sending({ ...GROUPED, edits: true, receive, freshFor: 45 })
  await run.fire(high(1))
  await run.clock.advance(40)
  expect(shown.get('1')!.message.incident?.unpolled).toBeUndefined()
  await run.clock.advance(20)
  expect(shown.get('1')!.message.incident?.unpolled).toEqual({ targets: 1, since: AT })
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
  expect(seen.length).toBeGreaterThan(1)
  expect(seen.map(({ mayBePosted }) => mayBePosted).slice(0, 2)).toEqual([false, true])
  expect(seen[1]!.begun).toBe(seen[0]!.begun)
  expect(seen.slice(2).every(({ posted, isEdit }) => posted === '1' && isEdit)).toBe(true)
})

test('a message that was posted again is edited from then on, also by the next process', async () => {
  const { seen, run } = answering('1', '2')
  await run.fire(high(1))
  await run.clock.advance(40)
  run.restart()
  await run.clock.advance(20)
  expect(seen.map(({ posted }) => posted).slice(0, 4)).toEqual([undefined, '1', '2', '2'])
})

test('a message that was posted again while the store is busy is not edited before the store knows it', async () => {
  const { seen, run } = answering('1', '2')
  await run.fire(high(1))
  while (seen.length === 0) await run.clock.advance(1)
  run.broken.add('removeFromOutbox')
  await run.clock.advance(60)
  expect(seen.map(({ posted }) => posted)).toEqual([undefined, '1'])
  run.broken.clear()
  await run.clock.advance(20)
  expect(seen.at(-1)!.posted).toBe('2')
})

test('that nothing fires any more is said later if it is refused', async () => {
  const { shown, receive, on } = board()
  let refusals = 1
  const run = sending({
    ...GROUPED,
    edits: true,
    receive: (message, attempt) => {
      const isOver = message.kind === 'alerts' && message.incident === undefined
      if (isOver && refusals-- > 0) return new DeliveryError('no', { retryable: false })
      return receive(message, attempt)
    },
  })
  on(run.clock)
  await run.fire(high(1))
  await run.clock.advance(30)
  await run.store.addSilence({ match: { target: 'target 1' }, since: AT, until: AT + 7200, reason: 'deploy' })
  await run.resolve(high(1))
  await run.clock.advance(200)
  expect(shown.get('1')!.message.incident).toBeDefined()
  await run.clock.advance(200)
  expect(shown.get('1')!.message.incident).toBeUndefined()
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

test('an incident that begins again after its end was silenced is posted, and the message of the first says that it is over', async () => {
  const { posted, shown, receive, on } = board()
  const run = sending({ ...GROUPED, edits: true, receive })
  on(run.clock)
  await run.store.addSilence({ match: { target: 'target 2' }, since: AT, until: AT + 7200, reason: 'deploy' })
  await run.fire(high(1))
  await run.fire(high(2))
  await run.clock.advance(400)
  await run.resolve(high(1))
  await run.clock.advance(400)
  await run.resolve(high(2))
  await run.clock.advance(60)
  expect(shown.get('1')!.message.incident).toBeUndefined()
  await run.clock.advance(10_000)
  await run.fire(high(1))
  await run.clock.advance(30)
  expect(posted).toHaveLength(2)
})

test('the outcome of an edit that is written late does not replace what another leader told since', async () => {
  const { receive } = board()
  const run = sending({ ...GROUPED, edits: true, receive })
  await run.fire(high(1))
  await run.clock.advance(31)
  run.broken.add('removeFromOutbox')
  await run.clock.advance(11)
  for (const method of ['toldGroups', 'outbox', 'claimOutbox'] as const) run.broken.add(method)
  await run.clock.advance(60)
  // The other leader told of the end of this incident, and of another one.
  const [group, before] = [...(await run.store.toldGroups('slack'))][0]!
  run.live.clear()
  await run.fire(high(2))
  const ids = (await run.store.outbox('slack')).map(({ id }) => id)
  const told = { ...before, at: run.clock.wall(), begun: run.clock.wall(), targets: 1, posted: 'of the other' }
  await run.store.removeFromOutbox(ids, [], { receiver: 'slack', group, told })
  run.broken.clear()
  await run.clock.advance(120)
  expect((await run.store.toldGroups('slack')).get(group)?.posted).toBe('of the other')
})
