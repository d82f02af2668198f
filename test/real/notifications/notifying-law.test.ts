import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Notification } from '../../../src/alerts/notification.ts'
import type { Message } from '../../../src/notifications/message.ts'
import { DeliveryError } from '../../../src/network/delivery-error.ts'
import { sending, type Named, type Step } from '../../kit/notifications/delivery/sending.ts'

const GROUP_WAIT = 10
const RUNS = 400
const ALERTS: Named[] = [
  { name: 'A' },
  { name: 'B' },
  { name: 'C', severity: 'critical' },
  { name: 'D', target: 'staging' },
]

type Happening =
  /** An alert begins to fire; one that fires ends. */
  | { kind: 'change'; alert: number; how: 'resolve' | 'expire' }
  | { kind: 'wait'; seconds: number }
  | { kind: 'receiver'; answers: 'well' | 'busy' | 'wait' | 'refuse' }
  | { kind: 'store'; broken: Step[] }
  | { kind: 'silence'; alert: number; seconds: number }
  /** The process dies at the sender's so-manieth step from now, and is away for a while. */
  | { kind: 'crash'; steps: number; away: number }

const alert = fc.nat({ max: ALERTS.length - 1 })
const happening = fc.oneof<fc.WeightedArbitrary<Happening>[]>(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('change'),
      alert,
      how: fc.constantFrom('resolve', 'resolve', 'expire'),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('wait'), seconds: fc.constantFrom(1, 3, 9, 11, 40) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('receiver'), answers: fc.constantFrom('well', 'busy', 'wait', 'refuse') }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('store'),
      broken: fc.subarray<Step>(['notified', 'rows', 'writeNotified', 'noteEpisodes', 'silences']),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('silence'), alert, seconds: fc.constantFrom(5, 60) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('crash'), steps: fc.nat({ max: 12 }), away: fc.constantFrom(0, 20) }),
  },
)

/** One alert in a message: the notified change, and how many ends it includes. */
type Notified = {
  alert: string
  kind: Notification['kind'] | 'flapped'
  at: number
  ends: number
  /** In which process. */
  life: number
}

function notifiedIn(message: Message, life: number): Notified[] {
  if (message.kind !== 'alerts') return []
  const nameOf = ({ target, key }: Notification) => `${target} ${key}`
  return [
    ...message.alerts.map(({ notification, flaps }) => {
      const ends = flaps + (isEnd(notification.kind) ? 1 : 0)
      return { alert: nameOf(notification), kind: notification.kind, at: notification.at, ends, life }
    }),
    ...message.flapped.map(({ notification, times, endedAt }) => {
      return { alert: nameOf(notification), kind: 'flapped' as const, at: endedAt, ends: times, life }
    }),
  ]
}

const isEnd = (kind: Notified['kind']) => kind !== 'firing'

/** A change, and for how long the alert had fired by then (seconds). */
type Change = Notification & { lasted: number }

/** Lets all that happen, then waits until all is quiet. */
async function play(happenings: readonly Happening[]) {
  const history: Change[] = []
  const allNotified: Notified[] = []
  const silenced = new Set<string>()
  /** What an attempt without an answer may have told, by alert. */
  let uncertain = new Set<string>()
  let answers: 'well' | 'busy' | 'wait' | 'refuse' = 'well'
  let stepsLeft = Infinity
  let away = 0
  let life = 0
  let isDead = false

  const wrong: { what: string; notified: Notified }[] = []

  /** Whether a notified change may follow what was settled before. */
  const check = (notified: Notified) => {
    const before = allNotified.findLast((other) => other.alert === notified.alert)
    const mayBeKnown = uncertain.has(notified.alert)
    const isKnown = before !== undefined && !isEnd(before.kind)
    const holds = (what: string, isSo: boolean) => isSo || wrong.push({ what, notified })
    if (notified.kind === 'flapped') holds('its firing was not notified', !isKnown)
    else if (notified.kind !== 'firing') holds('its firing was notified, or may have been', isKnown || mayBeKnown)
    if (before === undefined) return
    holds('nothing newer was notified before', notified.at >= before.at)
    const mayComeTwice = mayBeKnown && notified.life > before.life
    holds('only what one that died may have told is notified twice', notified.at > before.at || mayComeTwice)
  }
  const sent = sending({
    groupWait: GROUP_WAIT,
    receive: (message) => {
      if (answers === 'busy') return new DeliveryError('busy', { retryable: true })
      if (answers === 'wait') return new DeliveryError('busy', { retryable: true, retryAfter: 30 })
      if (answers === 'refuse') return new DeliveryError('refused', { retryable: false })
      for (const notified of notifiedIn(message, life)) {
        check(notified)
        allNotified.push(notified)
      }
      return undefined
    },
    onStep: () => {
      if (stepsLeft > 0) stepsLeft -= 1
      else if (!isDead) {
        isDead = true
        sent.kill()
      }
    },
  })

  let isEnding = false
  const handle = async (happened: Happening) => {
    if (happened.kind === 'change') {
      const named = ALERTS[happened.alert]!
      await sent.clock.advance(0.25)
      const fires = history.findLast(({ key }) => key === named.name)
      const isFiring = fires !== undefined && !isEnd(fires.kind)
      if (isEnding && !isFiring) return
      const change = isFiring ? happened.how : 'fire'
      const notification = await sent[change](named)
      history.push({ ...notification, lasted: notification.at - notification.firingSince })
    }
    if (happened.kind === 'wait') await sent.clock.advance(happened.seconds)
    if (happened.kind === 'receiver') answers = happened.answers
    if (happened.kind === 'store') {
      sent.broken.clear()
      for (const step of happened.broken) sent.broken.add(step)
    }
    if (happened.kind === 'silence') {
      const { name } = ALERTS[happened.alert]!
      silenced.add(name)
      const since = sent.clock.wall()
      await sent.store.addSilence({ match: { alert: name }, since, until: since + happened.seconds, reason: 'law' })
    }
    if (happened.kind === 'crash') [stepsLeft, away] = [happened.steps, happened.away]
  }
  const revive = async () => {
    if (!isDead) return
    await sent.clock.advance(away)
    stepsLeft = Infinity
    isDead = false
    life += 1
    sent.restart()
  }
  // What inhibits others must end, or they wait for ever.
  const lasting = ALERTS.flatMap(({ severity }, index) => (severity === 'critical' ? index : []))
  const end: Happening[] = [
    { kind: 'store', broken: [] },
    { kind: 'receiver', answers: 'well' },
    { kind: 'crash', steps: Infinity, away: 0 },
    { kind: 'wait', seconds: 330 },
    ...lasting.flatMap((each): Happening[] => [
      { kind: 'change', alert: each, how: 'resolve' },
      { kind: 'wait', seconds: 20 },
    ]),
  ]
  // The receiver is known to the store before anything happens.
  await sent.clock.advance(1)
  for (const [place, happened] of [...happenings, ...end].entries()) {
    isEnding = place >= happenings.length
    await revive()
    await handle(happened)
    // What died may have told what it began, and what was accepted may not be written yet.
    const { rows } = await sent.store.notified()
    uncertain = new Set([
      ...rows.flatMap(({ accepted, data }) => (accepted ? [] : toldIn(data))),
      ...(sent.broken.has('writeNotified') ? uncertain : []),
    ])
  }
  expect(wrong).toEqual([])
  const { rows } = await sent.store.notified()
  expect(
    rows.filter(({ accepted }) => !accepted),
    'each attempt has an answer',
  ).toEqual([])
  return { history, allNotified, silenced, lives: life + 1 }
}

/** The alerts of which a row says that they were told, or may have been. */
function toldIn(data: string): string[] {
  const { begun, ended }: Record<'begun' | 'ended', { target: string; key: string }[]> = JSON.parse(data)
  return [...begun, ...ended].map(({ target, key }) => `${target} ${key}`)
}

/** Compares the notifications of an alert with all that happened to it. */
function expectAgreement(
  changes: readonly Change[],
  sent: readonly Notified[],
  { wasSilenced, lives }: { wasSilenced: boolean; lives: number },
): void {
  const [last, latest] = [changes.at(-1), sent.at(-1)]
  if (last === undefined) return
  const isBrief = ({ kind, lasted }: Change) => !isEnd(kind) || lasted <= GROUP_WAIT
  const toldAt = latest?.at ?? 0
  const unsent = changes.filter(({ at }) => at > toldAt)
  const isKnownOver = latest === undefined || isEnd(latest.kind)
  expect(isKnownOver, 'the receiver knows whether it fires').toBe(isEnd(last.kind))
  if (isKnownOver)
    expect(wasSilenced || unsent.every(isBrief), 'what it was not told was brief, or silenced').toBe(true)
  // While it fires, its receiver knows that; when it has ended, it is told how often it did.
  const ends = changes.filter(({ kind, at }) => isEnd(kind) && (isKnownOver || at <= toldAt))
  const counted = sent.reduce((sum, notified) => sum + notified.ends, 0)
  const lasting = wasSilenced ? [] : ends.filter((end) => !isBrief(end))
  expect(counted, 'no end that lasted is lost').toBeGreaterThanOrEqual(lasting.length)
  if (lives === 1) expect(counted, 'no end is counted twice').toBeLessThanOrEqual(ends.length)
}

test('notifications agree with what happened, whatever alerts change, receivers fail and processes die', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 1, maxLength: 40 }), async (happenings) => {
      const { history, allNotified, silenced, lives } = await play(happenings)
      for (const { name, target = 'production', severity } of ALERTS) {
        const changes = history.filter(({ key }) => key === name)
        const sent = allNotified.filter(({ alert: its }) => its === `${target} ${name}`)
        // C is the critical one of the same calls.
        const isInhibitable =
          severity !== 'critical' && target === 'production' && history.some(({ key }) => key === 'C')
        expectAgreement(changes, sent, { wasSilenced: silenced.has(name) || isInhibitable, lives })
      }
    }),
    // A busy machine tries fewer.
    { numRuns: RUNS, interruptAfterTimeLimit: 150_000 },
  )
})
