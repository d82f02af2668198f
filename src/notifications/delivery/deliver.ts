import { randomUUID } from 'node:crypto'
import { exhaustMap, filter, from, mergeMap, takeUntil, timer, type Observable } from 'rxjs'
import type { LiveAlert } from '../../alerts/alert.ts'
import { bySeverity } from '../../alerts/match-keys.ts'
import type { Rule } from '../../alerts/rule.ts'
import type { Clock } from '../../clock/clock.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import type { Store } from '../../store/store.ts'
import type { GroupOf } from '../grouping.ts'
import type { Message } from '../message.ts'
import type { MessageReceiver, State, StateReceiver } from '../receiver.ts'
import { isOfReceiver, type Attempt, type BackOff } from './back-off.ts'
import { compose, composeUnrouted, type ComposeOptions, type Composed } from './compose.ts'
import { due, type Kind, type Reached } from './due.ts'
import { groupsOf, type Grouped, type Unrouted } from './groups.ts'
import type { Known, Notified } from './notified.ts'
import type { Pauses } from './pauses.ts'
import { LATE_SECONDS, type Live, type Now } from './now.ts'
import { suppressing, type Fired, type Inhibition, type Mute } from './suppress.ts'
import { suppressionNotes } from './suppression-notes.ts'

/** The outcome of one attempt to deliver to a receiver. */
export type Delivery = Attempt & {
  /** The receiver's name. */
  receiver: string
  /** The message; absent if a state was delivered. */
  message?: Message
}

/** What is to be done for a receiver now: the attempts that were begun. */
export type Round = () => Promise<readonly Promise<Delivery | undefined>[]>

/** Each second, the first round that begins something is used, until `draining$`; what was begun is brought to its end. */
export function deliver(
  rounds: readonly Round[],
  { clock, draining$ }: { clock: Clock; draining$: Observable<unknown> },
): Observable<Delivery> {
  async function next() {
    for (const round of rounds) {
      const begun = await round().catch(onlyStoreErrors([]))
      if (begun.length > 0) return begun
    }
    return []
  }
  return timer(0, 1000, clock.scheduler).pipe(
    takeUntil(draining$),
    exhaustMap(next),
    mergeMap((begun) => from(begun).pipe(mergeMap((one) => one))),
    filter((delivery) => delivery !== undefined),
  )
}

/**
 * Brings a receiver of the state up to date.
 *
 * @param expectLeader rejects with a StoreError if another daemon sends the state now
 */
export function stateRound(
  { name, refresh }: StateReceiver,
  pause: BackOff,
  state: State,
  expectLeader: () => Promise<void>,
): Round {
  return async () => {
    let work: ReturnType<typeof refresh>
    try {
      // Runs during a pause as well: an alert that ends now must get this end time.
      work = refresh(state)
    } catch (error) {
      work = () => Promise.reject(error)
    }
    if (work === undefined || pause.left() > 0) return []
    await expectLeader()
    const attempt = await pause.attempt(work)
    return [Promise.resolve({ receiver: name, ...attempt })]
  }
}

export type MessagesOptions = Omit<ComposeOptions, 'now' | 'suppressing' | 'receiver' | 'targets' | 'freshFrom'> & {
  store: Pick<Store, 'noteEpisodes'>
  clock: Clock
  groupOf: GroupOf
  rules: readonly Rule[]
  mutes: readonly Mute[]
  inhibit: readonly Inhibition[]
  targets: () => number
  freshFrom: () => number
  alerts: () => readonly LiveAlert[]
  /** What the receiver was told. @throws {StoreError} */
  notified: () => Promise<Notified>
  /** What is. @throws {StoreError} */
  now: () => Promise<Now>
}

/** How many messages to a receiver are under way at most. */
const MOST_AT_ONCE = 4
/** The least time between two edits of a message, and between any two edits (seconds). Slack allows fifty a minute. */
const EDIT_SECONDS = 15
const EDIT_PACE_SECONDS = 2
/** What a receiver was told is looked at this often at least (seconds). */
const LOOK_SECONDS = 60
/** How long the first alert of a group waits, unless it is configured (seconds): for the polls of all targets. */
const WAIT = { least: 20, most: 30, afterPoll: 5 } as const

/** Begins, at most once a second, the message about a group that is due: the most severe first, of these the longest untried. */
export function messageRound(receiver: MessageReceiver, pauses: Pauses, options: MessagesOptions): Round {
  const { clock, store, groupOf, isSent } = options
  const { name } = receiver
  const note = suppressionNotes(store)
  const free = freeTimes(clock)
  const rules = new Map(options.rules.map((rule) => [rule.name, rule]))
  let seen = { key: '', until: -Infinity }

  /** All that may be told, and when something may become due. */
  function look(now: Now, notified: Notified) {
    const { inhibit } = options
    const suppression = now.shared(inhibit, () => suppressingAt(now, options))(isSent)
    const { cursor } = notified.state()
    const about = { now, suppressing: suppression, groupOf, isSent, rules, targets: options.targets(), cursor }
    const own = { entries: notified.entries(), attempts: notified.attempts(), freeFor: free.look(), waitOf }
    return { suppression, ...groupsOf({ ...about, ...own, monotonic: clock.monotonic() }) }
  }
  type Look = ReturnType<typeof look>

  /** The groups that are due, and in how many seconds another one may be. */
  function dueAmong(groups: Look['groups']) {
    let soonest = LOOK_SECONDS
    const reached: Reached = (age, limit) => {
      if (age < limit) soonest = Math.min(soonest, limit - age)
      return age >= limit
    }
    const all = [...groups.values()].flatMap((group) => {
      const { key } = group.group
      const kind = due(group, reached)
      const left = pauses.of(key).left()
      if (left > 0) soonest = Math.min(soonest, left)
      return kind === undefined || left > 0 || pauses.busy.has(key) ? [] : { group, kind }
    })
    const triedAt = ({ group }: Due) => pauses.tried.get(group.group.key) ?? -Infinity
    const order = all.toSorted((a, b) => bySeverity(worstOf(a.group), worstOf(b.group)) || triedAt(a) - triedAt(b))
    return { order, soonest }
  }

  const contextOf = (now: Now, suppression: Look['suppression']): ComposeOptions => {
    const [targets, freshFrom] = [options.targets(), options.freshFrom()]
    return { ...options, now, suppressing: suppression, receiver: name, targets, freshFrom }
  }

  /** Sends a message. @param settle writes what follows once it is accepted */
  async function send(key: string, message: Message, settle: Settle): Promise<Delivery> {
    const pause = pauses.of(key)
    const attempt = await attemptOf(() => receiver.send(message), pause, pauses)
    await (attempt.outcome === 'sent'
      ? settle.accepted(attempt.posted)
      : attempt.mayHaveArrived
        ? undefined
        : settle.failed())
    pauses.busy.delete(key)
    const { posted: _, ...delivery } = attempt
    return { receiver: name, message, ...delivery, ...(attempt.outcome === 'sent' && pauses.stillFails()) }
  }

  async function begin({ group, kind }: Due, found: Look, now: Now, notified: Notified): Promise<Promise<Delivery>[]> {
    const { key } = group.group
    const failingSince = since(pauses, key, group)
    const sent = { id: randomUUID(), about: kind, thread: threadOf(group, found.groups), failingSince }
    const { message, telling } = compose(group, sent, contextOf(now, found.suppression))
    await notified.begin(telling)
    pauses.busy.add(key)
    pauses.tried.set(key, clock.monotonic())
    const accepted = (posted: string | undefined) => notified.accepted(telling, posted)
    return [send(key, message, { accepted, failed: () => notified.failed(telling.id) })]
  }

  /** Tells that what still fires is no longer sent here. */
  function tellUnrouted(unrouted: readonly Unrouted[], found: Look, now: Now, notified: Notified) {
    const byGroup = Map.groupBy(unrouted, ({ live }) => `unrouted ${groupOf(live.alert).key}`)
    const [next] = [...byGroup].filter(([key]) => pauses.of(key).left() === 0 && !pauses.busy.has(key))
    if (next === undefined) return []
    const [key, own] = next
    const sent = { id: randomUUID(), about: 'unrouted' as const, thread: own[0]!.entry.thread, failingSince: undefined }
    const message = composeUnrouted(own, sent, contextOf(now, found.suppression))
    pauses.busy.add(key)
    const accepted = () => notified.unrouted(own.map(({ entry }) => entry), sent.id) // oxfmt-ignore
    return [send(key, message, { accepted, failed: async () => undefined })]
  }

  /** Edits the message of the incident that was edited least recently, so that its numbers are true. */
  async function edit(found: Look, now: Now, notified: Notified): Promise<Promise<Delivery | undefined>[]> {
    const { edits, edited, busy } = pauses
    const editedAt = (key: string) => edited.get(key) ?? -Infinity
    const at = clock.monotonic()
    if (edits.left() > 0 || edited.values().some((last) => at - last < EDIT_PACE_SECONDS)) return []
    const all = [...found.groups.values()].flatMap((group) => {
      const thread = threadOf(group, found.groups)
      const isDue = at - editedAt(group.group.key) >= EDIT_SECONDS && !busy.has(group.group.key)
      return thread !== undefined && isDue ? { group, thread } : []
    })
    const [next] = all.toSorted((a, b) => editedAt(a.group.group.key) - editedAt(b.group.group.key))
    if (next === undefined) return []
    const { group, thread } = next
    const { key } = group.group
    edited.set(key, at)
    const sent = { id: randomUUID(), about: 'edit' as const, thread, failingSince: undefined }
    const composed = compose(group, sent, contextOf(now, found.suppression))
    busy.add(key)
    return [sendEdit(composed, key, notified)]
  }

  async function sendEdit({ message, telling }: Composed, key: string, notified: Notified) {
    const hadFailed = pauses.edits.failed() !== undefined
    let shown: unknown
    const attempt = await pauses.edits.attempt(async () => (shown = await receiver.send(message)))
    if (attempt.outcome === 'sent' && typeof shown === 'string') await notified.edited(telling, shown)
    pauses.busy.delete(key)
    return attempt.outcome === 'sent' && !hadFailed ? undefined : { receiver: name, ...attempt }
  }

  return async (): Promise<readonly Promise<Delivery | undefined>[]> => {
    const notified = await options.notified()
    await notified.flush()
    const now = await options.now()
    free.tick()
    const { whole, busy } = pauses
    const key = JSON.stringify([now.version, notified.version(), busy.size])
    if (key === seen.key && clock.monotonic() < seen.until) return []
    const found = look(now, notified)
    await note(found.suppressed)
    await tidy(notified, found, now)
    const { order, soonest } = dueAmong(found.groups)
    pauses.keep(new Set([...found.groups.keys(), ...busy, ...found.unrouted.map(({ live }) => `unrouted ${groupOf(live.alert).key}`)])) // oxfmt-ignore
    const isEdited = receiver.edits === true && notified.entries().some(({ ended }) => ended === undefined)
    pauses.due = order.length
    const isWaiting = order.length + found.unrouted.length > 0
    const rest = isWaiting ? 0 : isEdited ? EDIT_PACE_SECONDS : soonest
    seen = { key, until: clock.monotonic() + Math.max(rest, whole.left()) }
    if (whole.left() > 0 || busy.size >= MOST_AT_ONCE) return []
    const [next] = order
    if (next !== undefined) return begin(next, found, now, notified)
    const told = tellUnrouted(found.unrouted, found, now, notified)
    if (told.length > 0 || receiver.edits !== true) return told
    return edit(found, now, notified)
  }
}

function suppressingAt(
  { silences, firing, ended }: Now,
  { mutes, inhibit }: Pick<MessagesOptions, 'mutes' | 'inhibit'>,
) {
  const fired: Fired[] = firing.map(({ alert }) => alert)
  for (const { change } of ended.values()) fired.push({ ...change, until: change.at })
  return suppressing({ mutes, inhibit, silences, fired })
}

type Due = { group: Grouped; kind: Kind }

/** What is written after a message. */
type Settle = { accepted: (posted: string | undefined) => Promise<void>; failed: () => Promise<void> }

/** Attempts to send; a failure pauses the receiver or only the group. */
async function attemptOf(
  send: () => Promise<unknown>,
  own: BackOff,
  { whole, accepted }: Pauses,
): Promise<Attempt & { posted: string | undefined }> {
  try {
    const posted = await send()
    accepted()
    return { ...own.accepted(), posted: typeof posted === 'string' ? posted : undefined }
  } catch (error) {
    return { ...(isOfReceiver(error) ? whole : own).fail(error), posted: undefined }
  }
}

/** Since when attempts to send this have failed (UNIX seconds), as far as this process and the store know. */
function since(pauses: Pauses, key: string, { unanswered }: Grouped): number | undefined {
  const times = [
    pauses.of(key).failed()?.since,
    pauses.whole.failed()?.since,
    ...unanswered.map(({ attempt }) => attempt.at),
  ]
  const known = times.filter((at) => at !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/**
 * The message with which the incident of a group goes on: the latest one of its alerts. Of several groups with one message, as after a
 * reload, the one with its oldest alert keeps it.
 */
function threadOf(own: Grouped, groups: ReadonlyMap<string, Grouped>): string | undefined {
  const open = ({ heard }: Grouped) => heard.filter(({ endAge }) => endAge === undefined)
  const oldestIn = (group: Grouped, thread: string) =>
    open(group).reduce(
      (least, { entry }) => (entry.thread === thread ? Math.min(least, entry.firingSince) : least),
      Infinity,
    )
  const mine = open(own).toSorted((a, b) => a.age - b.age).map(({ entry }) => entry.thread) // oxfmt-ignore
  return [...new Set(mine)].find((thread) =>
    [...groups.values()].every((other) => other === own || oldestIn(own, thread) <= oldestIn(other, thread)),
  )
}

/** Of all that a message about a group may tell of. */
function worstOf({ firing, heard, untold, unanswered }: Grouped) {
  const claimed = unanswered.flatMap(({ begun }) => begun)
  const all = [...firing, ...heard, ...claimed, ...untold.map(({ change }) => change)]
  return all.reduce((worst, one) => (bySeverity(one, worst) < 0 ? one : worst))
}

/** Until each target was polled, by the slowest of their polls (seconds). */
function waitOf(alerts: readonly Live[]): number {
  const gaps = alerts.flatMap(({ instance }) => instance.lastGaps ?? [])
  return Math.min(WAIT.most, Math.max(WAIT.least, Math.max(0, ...gaps) + WAIT.afterPoll))
}

/** For how long nothing has suppressed alerts, by the monotonic clock from when this process first saw each (seconds). */
function freeTimes({ monotonic, wall }: Clock) {
  let begun = new Map<string, number>()
  let last = -Infinity
  let previous = -Infinity
  return {
    /** Call it each second. */
    tick: () => ([previous, last] = [last, monotonic()]),
    /** Those that are not asked for are suppressed, or over. */
    look: () => {
      const before = begun
      begun = new Map()
      return ({ episode, alert }: Live): number => {
        const newest = Math.min(Math.max(0, wall() - alert.firingSince), monotonic() - previous)
        const since = before.get(episode) ?? monotonic() - newest
        begun.set(episode, since)
        return monotonic() - since
      }
    },
  }
}

/** Moves the cursor to the oldest end that may still need word, and forgets ends that were told long ago. */
async function tidy(notified: Notified, { groups }: { groups: ReadonlyMap<string, Grouped> }, now: Now): Promise<void> {
  const { cursor, ...state } = notified.state()
  const all = [...groups.values()]
  const open = all.flatMap(({ heard, unanswered }) => [...heard.filter(({ endAge }) => endAge === undefined), ...unanswered.flatMap(({ begun }) => begun)]) // oxfmt-ignore
  const needed = [...open.flatMap(({ episode }) => now.ended.get(episode)?.change.at ?? []), ...all.flatMap(({ untold }) => untold.map(({ change }) => change.at))] // oxfmt-ignore
  const next = Math.min(now.at - LATE_SECONDS, ...needed.map((at) => at - 1))
  // What is no longer sent here may still fire.
  const isPassed = ({ entry }: { entry: Known }) =>
    now.live(entry.name)?.episode !== entry.episode && (now.ended.get(entry.episode)?.change.at ?? -Infinity) <= cursor
  const old = all.flatMap(({ heard, interval }) =>
    heard.filter((one) => one.endAge !== undefined && one.endAge >= interval && isPassed(one)),
  )
  await notified.forget(old.map(({ entry }) => entry))
  // Without an end in between, the cursor need not be written.
  const hasEnds = now.ended.values().some(({ change }) => change.at > cursor && change.at <= next)
  if (hasEnds && next - cursor >= LOOK_SECONDS) await notified.set({ ...state, cursor: next })
}
