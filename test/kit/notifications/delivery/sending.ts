import { merge, Subject, type Subscription } from 'rxjs'
import type { AlertInstance } from '../../../../src/alerts/alert-instance.ts'
import { instanceOf, type Notification } from '../../../../src/alerts/notification.ts'
import type { Rule } from '../../../../src/alerts/rule.ts'
import type { Signal } from '../../../../src/alerts/signals.ts'
import type { Severity, MATCH_KEYS } from '../../../../src/alerts/match-keys.ts'
import { deliver, type Delivery } from '../../../../src/notifications/delivery/deliver.ts'
import { readNotified } from '../../../../src/notifications/delivery/notified.ts'
import { nowReader } from '../../../../src/notifications/delivery/now.ts'
import { messageRound, type MessagesOptions } from '../../../../src/notifications/delivery/message-round.ts'
import { suppressionNotes } from '../../../../src/notifications/delivery/suppression-notes.ts'
import { newPauses } from '../../../../src/notifications/delivery/pauses.ts'
import { grouping } from '../../../../src/notifications/grouping.ts'
import type { AlertMessage, Message } from '../../../../src/notifications/message.ts'
import { openSqliteStore } from '../../../../src/store/open-sqlite.ts'
import { StoreError } from '../../../../src/store/store-error.ts'
import type { Store } from '../../../../src/store/store.ts'
import { firingOf, POLL_AGE, ruleOn } from '../../alerts/sample-rules.ts'
import { virtualClock } from '../../virtual-clock.ts'
import { commitChanges } from '../../store/place.ts'

/** 2026-11-20 08:15:30 UTC, a Friday. */
export const AT = Date.UTC(2026, 10, 20, 8, 15, 30) / 1000

/** What the receiver makes of a message: an error that it rejects with, or nothing. */
export type Receive = (message: Message, attempt: number) => Error | Promise<string | undefined | void> | undefined

/** What a sender needs the store for. */
type SenderStore = Pick<Store, 'notified' | 'writeNotified' | 'noteEpisodes' | 'silences' | 'rows'>
export type Step = keyof SenderStore | 'send'

/** An alert by its name, of the target `production` and the severity `warning` unless said otherwise. */
export type Named = { name: string; target?: string; severity?: Severity }

type SendingOptions = Partial<Pick<MessagesOptions, 'mutes' | 'inhibit'>> & {
  groupWait?: number
  /** By default alerts are grouped by target and severity, and later changes are sent at once. */
  groupBy?: readonly (typeof MATCH_KEYS)[number][]
  groupInterval?: number
  /** How many targets there are. */
  targets?: number
  /** Whether the receiver edits the messages of incidents. */
  edits?: boolean
  /** Of these, those on the same calls are one group. */
  rules?: readonly Rule[]
  receive?: Receive
  /** Further receivers, which record nothing. */
  others?: Record<string, Receive>
  at?: number
  /** How long an evaluation is not old (seconds). */
  freshFor?: number
  /** Called before and after all that a sender does; it may kill the process there. */
  onStep?: () => void
}

/**
 * The receiver `slack`, which records its messages, on the virtual clock, with a store in memory and alerts that the test fires and
 * resolves. A restart loses what the process knew, and keeps store and alerts.
 */
export function sending(options: SendingOptions = {}) {
  const {
    receive = () => undefined,
    others = {},
    groupWait = 0,
    groupBy = ['target', 'severity'],
    groupInterval = 0,
    targets = 1,
    rules = [],
    edits = false,
    mutes = [],
    inhibit = [],
    at = AT,
    freshFor = Infinity,
    onStep = () => undefined,
  } = options
  const clock = virtualClock(at)
  const draining$ = new Subject<void>()
  const store = openSqliteStore({ path: ':memory:' })
  const live = new Map<string, { target: string; instance: AlertInstance }>()
  const received: [second: number, text: string][] = []
  const messages: Message[] = []
  const deliveries: Delivery[] = []
  const broken = new Set<Step>()
  const steps: Step[] = []
  let completed = false
  let sender: Subscription | undefined
  let pause = async () => {}

  /** A step of one process: a dead process takes none, and gets no result of one that it had begun. */
  async function step<T>(name: Step, isDead: () => boolean, work: () => Promise<T>): Promise<T> {
    const unlessDead = () => (isDead() ? new Promise<never>(() => undefined) : undefined)
    onStep()
    steps.push(name)
    await unlessDead()
    if (broken.has(name)) throw new StoreError('unavailable', 'the store is busy')
    try {
      return await work()
    } finally {
      onStep()
      await unlessDead()
    }
  }

  function storeOf(isDead: () => boolean): SenderStore {
    return {
      notified: () => step('notified', isDead, store.notified),
      writeNotified: (given) => step('writeNotified', isDead, () => store.writeNotified(given)),
      noteEpisodes: (notes) => step('noteEpisodes', isDead, () => store.noteEpisodes(notes)),
      silences: (now) => step('silences', isDead, () => store.silences(now)),
      rows: (...given) => step('rows', isDead, () => store.rows(...given)),
    }
  }

  function start(): void {
    let isDead = false
    const paused$ = new Subject<void>()
    const own = storeOf(() => isDead)
    let known: ReturnType<typeof readNotified> | undefined
    const names = ['slack', ...Object.keys(others)]
    const told = () => {
      known ??= readNotified(names, { clock, store: own })
      // oxlint-disable-next-line promise/prefer-await-to-then -- the next one reads again
      known.catch(() => (known = undefined))
      return known
    }
    const pauses = new Map(names.map((name) => [name, newPauses(clock)]))
    let attempts = 0
    const sendTo = (name: string) => async (message: Message) => {
      const answer = others[name]!(message, (attempts += 1))
      if (answer instanceof Error) throw answer
      return answer
    }
    const send = (message: Message) =>
      step(
        'send',
        () => isDead,
        async () => {
          messages.push(message)
          received.push([clock.monotonic(), inShort(message)])
          const answer = receive(message, messages.length)
          if (answer instanceof Error) throw answer
          return answer
        },
      )
    const alerts = () => [...live.values()]
    const readNow = nowReader({ clock, store: own, alerts, mutes })
    const note = suppressionNotes(own)
    const optionsOf = (name: string): MessagesOptions => ({
      note,
      mask: (text) => text.replaceAll('hunter2', '[secret]'),
      clock,
      groupOf: grouping({ groupBy: [...groupBy], groupWait, groupInterval }, rules),
      rules,
      targets: () => targets,
      fleet: () => [],
      freshFrom: () => clock.wall() - freshFor,
      mutes,
      inhibit,
      isSent: () => true,
      publicUrl: undefined,
      notified: async () => (await told()).get(name)!,
      now: async () => readNow(Math.min(...(await told()).values().map((one) => one.state().cursor))),
    })
    const run = () => {
      const deliveries$ = names.map((name) => {
        const edit = async (message: AlertMessage) => (await send(message)) ?? undefined
        const receiver = name === 'slack' ? { name, send, ...(edits && { edit }) } : { name, send: sendTo(name) }
        const round = messageRound(receiver, pauses.get(name)!, optionsOf(name))
        return deliver([round], { clock, draining$: merge(draining$, paused$) })
      })
      sender = merge(...deliveries$).subscribe({
        next: (delivery) => deliveries.push(delivery),
        complete: () => (completed = true),
      })
      sender.add(() => (isDead = true))
    }
    pause = async () => {
      paused$.next()
      await clock.advance(1)
      run()
    }
    run()
  }

  async function change(alert: Named, kind: Notification['kind'], differing: Partial<Notification>) {
    const notification = changeOf(alert, kind, clock.wall(), live.get(keyOf(alert))?.instance, differing)
    if (kind === 'firing') live.set(keyOf(alert), liveAlert(alert, notification))
    else live.delete(keyOf(alert))
    await commitChanges(store, notification.target, { changes: [notification] })
    return notification
  }

  start()
  return {
    clock,
    draining$,
    store,
    live,
    received,
    messages,
    deliveries,
    broken,
    /** All that senders did, the first step first. */
    steps,
    fire: (alert: Named, differing: Partial<Notification> = {}) => change(alert, 'firing', differing),
    resolve: (alert: Named, differing: Partial<Notification> = {}) => change(alert, 'resolved', differing),
    expire: (alert: Named, differing: Partial<Notification> = {}) => change(alert, 'expired', differing),
    /** A firing alert's value as of now. */
    see: (alert: Named, now: Partial<AlertInstance>) => {
      const known = live.get(keyOf(alert))!
      live.set(keyOf(alert), { ...known, instance: { ...known.instance, ...now } })
    },
    outcomes: () => deliveries.map(({ outcome }) => outcome),
    isCompleted: () => completed,
    /** Ends the process at once; a delivery under way never returns. */
    kill: () => sender?.unsubscribe(),
    restart: () => {
      sender?.unsubscribe()
      start()
    },
    /** Ends sending for a second and starts it again, in the same process. */
    resume: () => pause(),
  }
}

export type Sending = ReturnType<typeof sending>

/** What is said of a change of an alert; `known` is the alert before. */
export function changeOf(
  { name, target = 'production', severity = 'warning' }: Named,
  kind: Notification['kind'],
  at: number,
  known?: Pick<AlertInstance, 'since' | 'firingSince' | 'peak'>,
  differing: Partial<Notification> = {},
): Notification {
  const rule = ruleNamed(name, severity)
  const { since = at, firingSince = at, peak = 0.5 } = known ?? {}
  return firingOf(rule, target, at, { kind, severity, since, firingSince: firingSince ?? at, peak, ...differing })
}

/** An alert of failed requests: that it came and went is no news. */
export const ERRORS = 'Errors'

export function ruleNamed(name: string, severity: Severity, signal: Signal = { name: 'calls_finished', window: 900 }) {
  if (name === POLL_AGE.name) return POLL_AGE
  return ruleOn(name === ERRORS ? { name: 'request_errors', window: 900, minRequests: 20 } : signal, { name, severity })
}

/** A firing alert as its target has it. */
export function liveAlert({ name, severity = 'warning' }: Named, notification: Notification) {
  const { evidence: _evidence, ...instance } = instanceOf(notification)
  return {
    target: notification.target,
    instance: { ...instance, rule: ruleNamed(name, severity, notification.signal) },
  }
}

/**
 * A message in one line, one part an alert: its kind, its name, `+2` where it flapped twice meanwhile, `×3`
 * where it did so three times unheard.
 */
export function inShort(message: Message): string {
  if (message.kind === 'report') return `report of ${message.report.since}`
  if (message.kind === 'store') return message.state
  const alerts = message.alerts.map(
    ({ notification: { kind, key }, flaps }) => `${kind} ${key}${flaps === 0 ? '' : ` +${flaps}`}`,
  )
  const flapped = message.flapped.map(({ notification: { key }, times }) => `flapped ${key} ×${times}`)
  return [...alerts, ...flapped].join(', ')
}

function keyOf({ name, target = 'production' }: Named): string {
  return `${target} ${name}`
}
