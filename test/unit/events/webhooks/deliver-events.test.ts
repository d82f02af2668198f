import { describe, expect, test } from 'vitest'
import { writeCursor, readCursor } from '../../../../src/events/cursor.ts'
import { webhookViews } from '../../../../src/events/webhooks/webhook-views.ts'
import type { DeliveryError } from '../../../../src/network/delivery-error.ts'
import { StoreError } from '../../../../src/store/store-error.ts'
import { answered, delivering, RETENTION, unanswered } from './delivering.ts'

const calls = (n: number, from = 0) => Array.from({ length: n }, (_, i) => `call ${from + i}`)
const hang = () => new Promise<undefined>(() => undefined)

describe('a webhook gets', () => {
  test('what happens from now on, or the whole log', async () => {
    const now = delivering({ from: 'now' })
    const start = delivering({ from: 'start' })
    for (const { append, run, clock } of [now, start]) {
      await append(calls(2))
      run()
      await clock.advance(1)
      await append(['later'])
      await clock.advance(2)
    }
    expect(now.subjects()).toEqual(['later'])
    expect(start.subjects()).toEqual(['call 0', 'call 1', 'later'])
  })

  test('what it wants: of types, targets and labels, also what was found late', async () => {
    const { append, run, clock, subjects } = delivering({
      from: 'start',
      types: ['call.ended', 'alert.firing'],
      targets: ['a'],
      match: { mode: 'call' },
    })
    await append(['begun'], { mode: 'call' })
    await append(['ended'], { mode: 'call' }, 'call.ended')
    await append(['a meeting'], { mode: 'meet' }, 'call.ended')
    await append(['late'], { mode: 'call', backfilled: true }, 'call.ended')
    await append(['an alert'], { labels: { mode: 'call' } }, 'alert.firing')
    await append(['an alert of all'], { labels: {} }, 'alert.firing')
    run()
    await clock.advance(1)
    expect(subjects()).toEqual(['ended', 'late', 'an alert'])
    const other = delivering({ from: 'start', targets: ['b'] })
    await other.append(['of a'])
    other.run()
    await other.clock.advance(1)
    expect(other.subjects()).toEqual([])
  })

  test('each event once, in order, through a stop and a start', async () => {
    const { append, run, clock, subjects, stored } = delivering()
    await append(calls(3))
    const first = run()
    await clock.advance(0.5)
    await append(calls(3, 3))
    first.stop()
    await clock.advance(5)
    expect(first.ended.is).toBe(true)
    run()
    await clock.advance(2)
    expect(subjects()).toEqual(calls(6))
    expect(await stored()).toMatchObject({ waiting: 0, dead: 0 })
  })

  test('after a crash only again what it got within the last seconds', async () => {
    const { append, run, clock, subjects, state } = delivering()
    state.receive = hang
    await append(calls(3))
    const first = run()
    await clock.advance(1.5)
    state.receive = () => undefined
    await append(calls(3, 3))
    await clock.advance(5)
    first.kill()
    run()
    await clock.advance(5)
    // Those that hung are repeated, and nothing that was saved.
    expect(subjects()).toEqual([...calls(6), ...calls(3)])
  })
})

test('while how far the webhook is cannot be saved, nothing further is read, so that a crash repeats little', async () => {
  const { append, run, clock, subjects, store } = delivering()
  let isFull = false
  const saveWebhook: typeof store.saveWebhook = async (change) => {
    if (isFull) throw new StoreError('unavailable', 'the disk is full')
    return store.saveWebhook(change)
  }
  const first = run(undefined, { ...store, saveWebhook })
  await clock.advance(1)
  isFull = true
  for (let i = 0; i < 60; i++) {
    await append([`call ${i}`])
    await clock.advance(1)
  }
  expect(subjects()).toEqual(['call 0'])
  first.kill()
  run()
  await clock.advance(1)
  expect(subjects()).toEqual(['call 0', ...calls(60)])
})

describe('an event that fails', () => {
  test('is retried with longer and longer delays, and holds up only later events of its call', async () => {
    const { append, run, clock, received, subjects, state } = delivering()
    state.receive = (subject) => (subject === 'bad' ? answered(500) : undefined)
    await append(['bad', 'good', 'bad', 'good'])
    run()
    await clock.advance(40)
    expect(subjects().filter((subject) => subject === 'good')).toHaveLength(2)
    expect(received.filter(([, subject]) => subject === 'bad').map(([at]) => at)).toEqual([0, 1, 3, 7, 15, 31])
    state.receive = () => undefined
    await clock.advance(300)
    expect(subjects().slice(-2)).toEqual(['bad', 'bad'])
    expect(subjects()).toHaveLength(10)
  })

  test('holds up only its call, however many of them there are, and each is sent with what it was', async () => {
    const { append, run, clock, subjects, stored, state } = delivering()
    state.receive = (subject) => (subject.startsWith('bad') ? answered(500) : undefined)
    for (let i = 0; i < 10; i++) {
      await append(Array.from({ length: 50 }, (_, n) => [`bad ${50 * i + n}`, `good ${50 * i + n}`]).flat())
    }
    run()
    await clock.advance(20)
    const good = () => subjects().filter((subject) => subject.startsWith('good'))
    expect(good()).toHaveLength(500)
    expect((await stored())!.waiting).toBe(500)
    const before = subjects().length
    state.receive = () => undefined
    await clock.advance(60)
    expect(new Set(subjects().slice(before)).size).toBe(500)
    expect(good()).toHaveLength(500)
    expect((await stored())!.waiting).toBe(0)
  })

  test('is kept in the store with what waits behind it, and goes on there after a crash', async () => {
    const { append, run, clock, subjects, state, stored, store } = delivering()
    state.receive = (subject) => (subject === 'bad' ? answered(500) : undefined)
    await append(['bad', 'good', 'bad'])
    const first = run()
    await clock.advance(10)
    first.kill()
    expect(await stored()).toMatchObject({ waiting: 2, oldest: { position: 1 } })
    const [bad, behind] = await store.undelivered('crm', { dead: false, after: { position: 0, place: -1 }, limit: 9 })
    expect(bad).toMatchObject({ place: 0, problem: 'it answered 500', dead: false })
    expect(behind).toMatchObject({ place: 2, attempts: 0 })
    state.receive = () => undefined
    run()
    await clock.advance(1)
    expect(subjects().slice(-2)).toEqual(['bad', 'bad'])
    await clock.advance(2)
    expect(await stored()).toMatchObject({ waiting: 0 })
    expect(subjects().filter((subject) => subject === 'good')).toHaveLength(1)
  })

  test('waits as long as the receiver asks for, alone if the receiver is not busy', async () => {
    const { append, run, clock, received, state } = delivering()
    state.receive = (_subject, attempt) => (attempt === 1 ? answered(404, 30) : undefined)
    await append(['a', 'b'])
    run()
    await clock.advance(40)
    expect(received).toEqual([[0, 'a'], [0, 'b'], [30, 'a']]) // oxfmt-ignore
  })

  test('waits as long as the receiver asks for, with all others', async () => {
    const { append, run, clock, received, state } = delivering()
    state.receive = (_subject, attempt) => (attempt === 1 ? answered(429, 30) : undefined)
    await append(['a'])
    run()
    await clock.advance(5)
    await append(['b'])
    await clock.advance(40)
    expect(received.map(([at]) => Math.round(at))).toEqual([0, 30, 30])
  })

  test.each([400, 401, 404, 301])(
    'with %i is a dead letter after ten minutes, and the next one of its call is sent',
    async (status) => {
      const { append, run, clock, subjects, outcomes, stored, state } = delivering()
      state.receive = (subject, attempt) => (subject === 'bad' && attempt < 30 ? answered(status) : undefined)
      await append(['bad'])
      run()
      await clock.advance(500)
      expect(await stored()).toMatchObject({ waiting: 1, dead: 0 })
      state.receive = (_subject, attempt) => (attempt <= 11 ? answered(status) : undefined)
      await append(['bad'])
      await clock.advance(500)
      expect(outcomes().filter((outcome) => outcome === '1 dead')).toHaveLength(1)
      expect(
        outcomes()
          .filter((outcome) => /\d/.test(outcome))
          .at(-1),
      ).toBe('1 delivered')
      expect(await stored()).toMatchObject({ waiting: 0, dead: 1 })
      expect(subjects().length).toBeLessThan(13)
    },
  )

  test('is no dead letter as long as it also fails in other ways', async () => {
    const { append, run, clock, stored, state } = delivering()
    state.receive = (_subject, attempt) => (attempt % 3 === 0 ? answered(404) : answered(500))
    await append(['bad'])
    run()
    await clock.advance(RETENTION - 50)
    expect(await stored()).toMatchObject({ waiting: 1, dead: 0 })
  })

  test.each([500, 503, 408, 425, 429])('with %i is retried for longer than that', async (status) => {
    const { append, run, clock, subjects, stored, state } = delivering()
    state.receive = () => answered(status)
    await append(['bad'])
    run()
    await clock.advance(RETENTION - 50)
    expect(subjects()).toHaveLength(12)
    expect(await stored()).toMatchObject({ waiting: 1, dead: 0 })
  })
})

describe('a receiver', () => {
  test('that hangs delays neither other events nor the saving of how far the webhook is', async () => {
    const { append, run, clock, subjects, state, stored } = delivering()
    state.receive = (subject) => (subject === 'slow' ? hang() : undefined)
    await append(['slow', ...calls(50)])
    run()
    await clock.advance(5)
    expect(subjects()).toHaveLength(51)
    const webhook = await stored()
    expect(webhook).toMatchObject({ waiting: 1 })
    expect(readCursor(webhook!.progress.cursor)).toMatchObject({ position: 1, place: 50 })
  })

  test('gets 16 requests at the same time at most', async () => {
    const { append, run, clock, subjects, state } = delivering()
    state.receive = hang
    await append(calls(50))
    run()
    await clock.advance(60)
    expect(subjects()).toHaveLength(16)
  })

  test('that is slow to fail gets each event once before it gets one again', async () => {
    const { append, run, clock, received, state } = delivering()
    const slowly = () =>
      new Promise<DeliveryError>((resolve) => clock.scheduler.schedule(() => resolve(answered(500)), 20_000))
    state.receive = (subject) => (subject === 'good' ? undefined : slowly())
    await append([...calls(40), 'good'])
    run()
    await clock.advance(60)
    expect(received.find(([, subject]) => subject === 'good')).toEqual([40, 'good'])
  })

  test('that answers soon gets the next request at once, however many events there are', async () => {
    const { append, run, clock, subjects, state } = delivering()
    state.receive = () => new Promise((resolve) => clock.scheduler.schedule(() => resolve(undefined), 10))
    for (let i = 0; i < 3; i++) await append(calls(1000, 1000 * i))
    run()
    await clock.advance(2.2)
    expect(new Set(subjects()).size).toBe(3000)
    expect(subjects()).toHaveLength(3000)
  })

  test.each([429, 502, 503, 504, 'no connection'] as const)(
    'that is down (%s) gets nothing for longer and longer, and all events once it is back',
    async (answer) => {
      const { append, run, clock, subjects, received, outcomes, stored, state } = delivering()
      state.receive = () => (answer === 'no connection' ? unanswered(false) : answered(answer))
      await append(calls(40))
      run()
      await clock.advance(200)
      const times = [...new Set(received.map(([at]) => at))]
      expect(times.slice(0, 7)).toEqual([0, 1, 3, 7, 15, 30, 45])
      expect(new Set(times.slice(5).map((at, i) => at - times[4 + i]!))).toEqual(new Set([15]))
      expect(received.length).toBeLessThanOrEqual(16 * times.length)
      expect(outcomes().filter((outcome) => outcome === 'failing')).toHaveLength(1)
      expect(await stored()).toMatchObject({ progress: { problem: expect.any(String) } })
      state.receive = () => undefined
      const before = subjects().length
      await clock.advance(100)
      expect(new Set(subjects().slice(before))).toEqual(new Set(calls(40)))
      expect(outcomes().filter((outcome) => outcome === 'recovered')).toHaveLength(1)
      expect((await stored())!.progress.problem).toBeUndefined()
    },
  )

  test('that answers 502 to one event alone gets the others within seconds', async () => {
    const { append, run, clock, received, state } = delivering()
    state.receive = (subject) => (subject === 'bad' ? answered(502) : undefined)
    await append(['bad'])
    run()
    for (let i = 0; i < 130; i++) {
      await append([`good ${i}`])
      await clock.advance(1)
    }
    const good = received.filter(([, subject]) => subject.startsWith('good'))
    expect(good).toHaveLength(130)
    expect(Math.max(...good.map(([at], i) => at - i))).toBeLessThan(4)
  })

  test.each([400, 404, 422, 500, 'nothing'] as const)(
    'that answers %s to one kind of event gets the others at once',
    async (answer) => {
      const { append, run, clock, received, state } = delivering()
      const bad = () => (answer === 'nothing' ? unanswered(true) : answered(answer))
      state.receive = (subject) => (subject.startsWith('bad') ? bad() : undefined)
      run()
      for (let i = 0; i < 30; i++) {
        await append([...Array.from({ length: 12 }, (_, n) => `bad ${12 * i + n}`), `good ${i}`])
        await clock.advance(1)
      }
      const good = received.filter(([, subject]) => subject.startsWith('good'))
      expect(good).toHaveLength(30)
      expect(Math.max(...good.map(([at], i) => at - i))).toBeLessThan(3)
    },
  )

  test('that refuses everything of a quiet system shows as failing, with the reason', async () => {
    const { append, run, clock, outcomes, store, state } = delivering()
    state.receive = () => answered(404)
    await append(calls(2))
    run()
    await clock.advance(30)
    const [view] = await webhookViews(store, clock.wall())
    expect(view).toMatchObject({ state: 'failing', problem: 'it answered 404', pending: 2 })
    expect(outcomes().filter((outcome) => outcome === 'failing')).toHaveLength(1)
  })

  test('that answers 410 is paused until somebody resumes it; nothing is lost meanwhile', async () => {
    const { append, run, clock, subjects, outcomes, stored, store, state } = delivering()
    state.receive = (_subject, attempt) => (attempt === 1 ? answered(410, 3600) : undefined)
    await append(['a'])
    const first = run()
    await clock.advance(5)
    await append(['b'])
    await clock.advance(100)
    first.kill()
    run()
    await clock.advance(100)
    expect(subjects()).toEqual(['a'])
    expect(outcomes()).toEqual(['1 retried', 'paused'])
    const { name, revision, progress } = (await stored())!
    expect(progress.paused).toBe('it answered 410')
    await store.saveWebhook({ name, revision, progress: { cursor: progress.cursor } })
    await clock.advance(3)
    expect(subjects().toSorted()).toEqual(['a', 'a', 'b'])
  })
})

describe('what others change in the store', () => {
  test('is found within a second, and not overwritten: events are replayed from an earlier cursor', async () => {
    const { append, run, clock, subjects, stored, store } = delivering()
    await append(calls(2))
    await append(calls(2, 2))
    run()
    await clock.advance(5)
    const [first] = await store.events(1, 0)
    const { name, revision, progress } = (await stored())!
    const cursor = writeCursor({ position: 1, id: first!.id, place: 0 })
    await store.saveWebhook({ name, revision, progress: { ...progress, cursor } })
    await clock.advance(5)
    expect(subjects()).toEqual([...calls(4), ...calls(3, 1)])
  })

  test('a webhook that comes back goes on where it was', async () => {
    const { append, run, clock, subjects, stored, store } = delivering({ from: 'now' })
    const first = run()
    await clock.advance(1)
    first.stop()
    await clock.advance(5)
    const { name, revision, progress } = (await stored())!
    await store.saveWebhook({ name, revision, progress: { ...progress, removedAt: clock.wall() } })
    await append(['meanwhile'])
    run()
    await clock.advance(3)
    expect(subjects()).toEqual(['meanwhile'])
    expect((await stored())!.progress.removedAt).toBeUndefined()
  })

  test('a daemon that is not the leader sends nothing, and changes nothing', async () => {
    const { append, run, clock, subjects, stored, state } = delivering()
    await append(['a'])
    state.isLeader = false
    run()
    await clock.advance(10)
    expect([subjects(), await stored()]).toEqual([[], undefined])
  })

  test('a daemon that is not the leader by the store sends nothing, although its clock says that it is', async () => {
    const { append, run, clock, subjects, outcomes, state } = delivering()
    await append(['a'])
    state.expectLeader = () => {
      throw new StoreError('stale', 'another daemon is the leader')
    }
    run()
    await clock.advance(5)
    expect([subjects(), outcomes()]).toEqual([[], []])
    state.expectLeader = () => undefined
    await clock.advance(1)
    expect([subjects(), outcomes()]).toEqual([['a'], ['1 delivered']])
  })

  test('a daemon that is not the leader by the store saves nothing, also when it stops: the leader would take it for a change', async () => {
    const { append, run, clock, subjects, stored, state } = delivering()
    const running = run()
    await clock.advance(1)
    await append(['a'])
    await clock.advance(1.5)
    const before = await stored()
    state.expectLeader = () => {
      throw new StoreError('stale', 'another daemon is the leader')
    }
    await append(['b'])
    await clock.advance(3)
    running.stop()
    await clock.advance(5)
    expect(running.ended.is).toBe(true)
    expect([subjects(), await stored()]).toEqual([['a'], before])
  })

  test('a daemon that is not the leader any more begins no further request', async () => {
    const { append, run, clock, outcomes, state } = delivering()
    const answers: (() => void)[] = []
    state.receive = () => new Promise((resolve) => answers.push(() => resolve(undefined)))
    await append(calls(100))
    run()
    await clock.advance(1.5)
    state.isLeader = false
    state.receive = () => undefined
    for (const answer of answers) answer()
    await clock.advance(5)
    expect(outcomes()).toHaveLength(answers.length)
    state.isLeader = true
    await clock.advance(60)
    expect(outcomes().filter((outcome) => outcome.endsWith('retried'))).toEqual([])
  })
})

describe('the retention', () => {
  // Each second of the retention passes.
  test('is counted, of what was never read, of what is retried, and of dead letters', async () => {
    const { append, run, clock, outcomes, stored, store, state } = delivering()
    state.retention = 1000
    state.receive = (subject) =>
      subject === 'refused' ? answered(404) : answered(500, subject === 'failing' ? undefined : 400)
    await append(['refused', 'failing'])
    run()
    await clock.advance(900)
    expect(await stored()).toMatchObject({ waiting: 1, dead: 1 })
    await append(calls(50))
    await clock.advance(3)
    const [view] = await webhookViews(store, clock.wall())
    expect(view).toMatchObject({ state: 'failing', pending: 51, dead_letters: 1 })
    expect(view!.oldest_pending_seconds).toBeGreaterThan(900)
    await clock.advance(state.retention)
    const expired = outcomes().flatMap((outcome) => (outcome.endsWith('expired') ? Number.parseInt(outcome, 10) : []))
    expect(expired.reduce((sum, n) => sum + n, 0)).toBe(52)
    expect(await stored()).toMatchObject({ waiting: 0, dead: 0 })
  })

  test('is counted also where the store fails meanwhile', async () => {
    const { append, run, clock, outcomes, store, state } = delivering()
    state.receive = () => answered(500)
    await append(calls(3))
    let isAway = false
    const events: typeof store.events = async (...part) => {
      if (isAway) throw new StoreError('unavailable', 'the disk is full')
      return store.events(...part)
    }
    run(undefined, { ...store, events })
    await clock.advance(RETENTION - 10)
    isAway = true
    await clock.advance(400)
    isAway = false
    await clock.advance(5)
    const expired = outcomes().flatMap((outcome) => (outcome.endsWith('expired') ? Number.parseInt(outcome, 10) : []))
    expect(expired.reduce((sum, n) => sum + n, 0)).toBe(3)
  })

  test('says so if its position in the log no longer exists, and continues with the oldest event that is left', async () => {
    const { append, run, clock, subjects, outcomes, store } = delivering()
    await append(calls(1))
    const first = run()
    await clock.advance(1)
    first.stop()
    await clock.advance(5)
    await clock.advance(RETENTION + 60)
    for (let i = 1; i < 4; i++) await append(calls(1, i))
    await store.deleteEvents(clock.wall() - 1)
    await store.deleteEvents(clock.wall() + 1, 4)
    run()
    await clock.advance(5)
    expect(outcomes()).toContain('gap')
    expect(subjects()).toEqual(['call 0', 'call 2', 'call 3'])
  })
})

test('what is behind an event that failed and expired does not wait for its retry', async () => {
  const { append, run, clock, received } = delivering({ from: 'start' }, (_subject, attempt) =>
    attempt === 1 ? answered(500, 200) : attempt === 2 ? answered(500, RETENTION) : undefined,
  )
  await append(['a'])
  run()
  await clock.advance(RETENTION - 200)
  await append(['a'])
  await clock.advance(300)
  expect(received.map(([at]) => Math.round(at))).toEqual([0, 200, RETENTION + 1])
})
