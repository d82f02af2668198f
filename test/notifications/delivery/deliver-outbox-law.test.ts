import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Notification } from '../../../src/alerts/notification.ts'
import type { Message } from '../../../src/notifications/message.ts'
import { DeliveryError } from '../../../src/notifications/receiver.ts'
import { sending, type Named, type Step } from './outbox-sending.ts'

const GROUP_WAIT = 10
const RUNS = 400
const ALERTS: Named[] = [
  { name: 'A' },
  { name: 'B' },
  { name: 'C', severity: 'critical' },
  { name: 'D', target: 'staging' },
]

type Happening =
  /** An alert begins to fire; one that fires is told again, or is over. */
  | { kind: 'change'; alert: number; how: 'remind' | 'resolve' | 'close' }
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
      how: fc.constantFrom('remind', 'resolve', 'resolve', 'close'),
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
      broken: fc.subarray<Step>(['outbox', 'claimOutbox', 'removeFromOutbox', 'silences']),
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

/** One alert in a message: the change that it was told by, and how many ends that speaks of. */
type Telling = {
  alert: string
  kind: Notification['kind'] | 'passed'
  at: number
  ends: number
  /** In which process. */
  life: number
}

function tellingsOf(message: Message, life: number): Telling[] {
  if (message.kind !== 'alerts') return []
  const nameOf = ({ target, key }: Notification) => `${target} ${key}`
  return [
    ...message.alerts.map(({ notification: told, flaps }) => {
      const ends = flaps + (isOver(told.kind) ? 1 : 0)
      return { alert: nameOf(told), kind: told.kind, at: told.at, ends, life }
    }),
    ...message.passed.map(({ notification, times, over }) => {
      return { alert: nameOf(notification), kind: 'passed' as const, at: over, ends: times, life }
    }),
  ]
}

const isOver = (kind: Telling['kind']) => kind !== 'firing' && kind !== 'reminder'

/** A change, and for how long the alert had fired by then (seconds). */
type Change = Notification & { lasted: number }

/** Lets all that happen, then waits until all is quiet. */
async function play(happenings: readonly Happening[]) {
  const history: Change[] = []
  // What was refused for good is counted as dropped, and is as settled as what was accepted.
  const told: Telling[] = []
  const silenced = new Set<string>()
  let claimed = new Set<string>()
  let answers: 'well' | 'busy' | 'wait' | 'refuse' = 'well'
  let stepsLeft = Infinity
  let away = 0
  let life = 0
  let isDead = false

  const wrong: { what: string; telling: Telling }[] = []

  /** What a telling may follow: judged as it comes, by what was settled before. */
  const judge = (telling: Telling) => {
    const before = told.findLast((other) => other.alert === telling.alert)
    const mayHaveBeenTold = claimed.has(telling.alert)
    const isKnown = before !== undefined && !isOver(before.kind)
    const holds = (what: string, isSo: boolean) => isSo || wrong.push({ what, telling })
    if (telling.kind === 'passed') holds('nobody knew that it fires', !isKnown)
    else if (telling.kind !== 'firing') holds('that it fires was known, or may have been', isKnown || mayHaveBeenTold)
    if (before === undefined) return
    holds('nothing newer was told before', telling.at >= before.at)
    const mayComeTwice = mayHaveBeenTold && telling.life > before.life
    holds('only what was claimed by one that died is told twice', telling.at > before.at || mayComeTwice)
  }
  const sent = sending({
    groupWait: GROUP_WAIT,
    receive: (message) => {
      if (answers === 'busy') return new DeliveryError('busy', { retryable: true })
      if (answers === 'wait') return new DeliveryError('busy', { retryable: true, retryAfter: 30 })
      for (const telling of tellingsOf(message, life)) {
        judge(telling)
        told.push(telling)
      }
      return answers === 'refuse' ? new DeliveryError('refused', { retryable: false }) : undefined
    },
    onStep: () => {
      if (stepsLeft > 0) stepsLeft -= 1
      else if (!isDead) {
        isDead = true
        sent.kill()
      }
    },
  })

  const handle = async (happened: Happening) => {
    if (happened.kind === 'change') {
      const named = ALERTS[happened.alert]!
      await sent.clock.advance(0.25)
      const fires = history.findLast(({ key }) => key === named.name)
      const change = fires === undefined || isOver(fires.kind) ? 'fire' : happened.how
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
  const end: Happening[] = [
    { kind: 'store', broken: [] },
    { kind: 'receiver', answers: 'well' },
    { kind: 'crash', steps: Infinity, away: 0 },
    { kind: 'wait', seconds: 330 },
  ]
  for (const happened of [...happenings, ...end]) {
    await revive()
    await handle(happened)
    claimed = new Set(
      (await sent.waiting()).flatMap(({ content, claimed: isClaimed }) =>
        isClaimed && content.kind !== 'digest' ? `${content.target} ${content.key}` : [],
      ),
    )
  }
  expect(wrong).toEqual([])
  expect(await sent.waiting(), 'nothing waits any more').toEqual([])
  return { history, told, silenced, lives: life + 1 }
}

/** What was told of an alert in the end, against all that happened to it. */
function expectAgreement(
  changes: readonly Change[],
  tellings: readonly Telling[],
  { wasSilenced, lives }: { wasSilenced: boolean; lives: number },
): void {
  const [last, lastTold] = [changes.at(-1), tellings.at(-1)]
  if (last === undefined) return
  const isBrief = ({ kind, lasted }: Change) => !isOver(kind) || lasted < GROUP_WAIT
  const unheard = changes.filter(({ at }) => at > (lastTold?.at ?? 0))
  if (unheard.length === 0) expect(isOver(lastTold!.kind), 'the last told is the last state').toBe(isOver(last.kind))
  else {
    const flaps = isOver(last.kind) && (lastTold === undefined || isOver(lastTold.kind))
    expect(flaps, 'what was not told came and went').toBe(true)
    expect(wasSilenced || unheard.every(isBrief), 'and was brief, or silenced').toBe(true)
  }
  const ends = changes.filter(({ kind }) => isOver(kind))
  const counted = tellings.reduce((sum, telling) => sum + telling.ends, 0)
  const lasting = wasSilenced ? [] : ends.filter((end) => !isBrief(end))
  expect(counted, 'no end that lasted is lost').toBeGreaterThanOrEqual(lasting.length)
  if (lives === 1) expect(counted, 'no end is counted twice').toBeLessThanOrEqual(ends.length)
}

test('whatever changes, fails and dies, what is notified agrees with what happened', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 1, maxLength: 40 }), async (happenings) => {
      const { history, told, silenced, lives } = await play(happenings)
      for (const { name, target = 'production' } of ALERTS) {
        const changes = history.filter(({ key }) => key === name)
        const tellings = told.filter(({ alert: its }) => its === `${target} ${name}`)
        expectAgreement(changes, tellings, { wasSilenced: silenced.has(name), lives })
      }
    }),
    { numRuns: RUNS },
  )
})
