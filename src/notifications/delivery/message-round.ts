import { randomUUID } from 'node:crypto'
import { bySeverity } from '../../alerts/match-keys.ts'
import type { Rule } from '../../alerts/rule.ts'
import type { Clock } from '../../clock/clock.ts'
import type { GroupOf } from '../grouping.ts'
import { DeliveryError } from '../../network/delivery-error.ts'
import type { AlertMessage } from '../message.ts'
import type { MessageReceiver } from '../receiver.ts'
import type { Attempt } from './back-off.ts'
import { compose, composeUnrouted, type ComposeOptions, type Composed } from './compose.ts'
import { tidy } from './cursor.ts'
import type { Delivery, Round } from './deliver.ts'
import { due, type Kind, type Reached } from './due.ts'
import { freeTimes, type FreeTimes } from './free-times.ts'
import { groupsOf, type Grouped } from './groups.ts'
import type { Notified } from './notified.ts'
import { once, type Live, type Now } from './now.ts'
import type { Pauses } from './pauses.ts'
import { suppressing, type Fired, type Inhibition, type Mute, type Suppressing } from './suppress.ts'
import type { suppressionNotes } from './suppression-notes.ts'
import { mergedIn, threadOf } from './threads.ts'

export type MessagesOptions = Omit<
  ComposeOptions,
  'now' | 'suppressing' | 'receiver' | 'targets' | 'freshFrom' | 'knows'
> & {
  clock: Clock
  groupOf: GroupOf
  rules: readonly Rule[]
  mutes: readonly Mute[]
  inhibit: readonly Inhibition[]
  targets: () => number
  freshFrom: () => number
  /** What the receiver was told. @throws {StoreError} */
  notified: () => Promise<Notified>
  /** What is. @throws {StoreError} */
  now: () => Promise<Now>
  /** Removes secrets. */
  mask: (text: string) => string
  /** Notes why alerts wait. @throws {StoreError} */
  note: ReturnType<typeof suppressionNotes>
}

/** What a round is made with. */
type Sender = MessagesOptions & {
  receiver: MessageReceiver
  pauses: Pauses
  free: FreeTimes
  byName: ReadonlyMap<string, Rule>
}

/** What a round finds: what is, what the receiver was told, and its groups. */
type Found = { now: Now; notified: Notified; suppression: Suppressing } & Awaited<ReturnType<typeof groupsOf>>

type Due = { group: Grouped; kind: Kind }
type Begun = readonly Promise<Delivery | undefined>[]

/** What is written after a message. */
type Settle = { accepted: (posted: string | undefined) => Promise<void>; failed: (attempt: Attempt) => Promise<void> }

/** How many messages to a receiver are under way at most. */
const MOST_AT_ONCE = 4
/** The least time between two edits of a message, and between any two edits (seconds). Slack allows fifty a minute. */
const EDIT_SECONDS = 15
const EDIT_PACE_SECONDS = 2
/** What a receiver was told is looked at this often at least (seconds). */
const LOOK_SECONDS = 15
/** How long the first alert of a group waits, unless it is configured (seconds): for the polls of all targets. */
const WAIT = { least: 20, most: 30, afterPoll: 5 } as const

/**
 * Begins, at most once a second, the message about a group that is due: the most severe first, of these the longest untried. Where none is
 * due, it tells what is no longer sent here, or edits a message.
 */
export function messageRound(receiver: MessageReceiver, pauses: Pauses, options: MessagesOptions): Round {
  const { clock, rules, note } = options
  const byName = new Map(rules.map((rule) => [rule.name, rule]))
  const sender: Sender = { ...options, receiver, pauses, free: freeTimes(clock), byName }
  let seen = { key: '', until: -Infinity }

  return async (): Promise<Begun> => {
    const notified = await options.notified()
    await notified.flush()
    const now = await options.now()
    sender.free.tick()
    const keyNow = () => JSON.stringify([now.version, notified.version(), pauses.busy.size])
    const key = keyNow()
    if (key === seen.key && clock.monotonic() < seen.until) return []
    await now.turn()
    const found = await look(sender, now, notified)
    await note(found.suppressed)
    await tidy(notified, found.groups, now)
    const { order, soonest } = dueAmong(sender, found)
    pauses.due = order.length
    const [left, isFull] = [pauses.whole.left(), pauses.busy.size >= MOST_AT_ONCE]
    const isOpen = () => notified.entries().some(({ ended }) => ended === undefined)
    const isEdited = receiver.edit !== undefined && (pauses.lastEdits.size > 0 || isOpen())
    const isDue = !isFull && order.length + found.unrouted.length > 0
    const rest = Math.min(soonest, isEdited ? untilEdit(pauses, clock.monotonic()) : Infinity)
    seen = { key, until: clock.monotonic() + Math.max(isDue ? 0 : rest, left) }
    if (left > 0 || isFull) return []
    await now.turn()
    // Otherwise a message was accepted meanwhile.
    return keyNow() === key ? beginFirst(sender, order, found) : []
  }
}

async function beginFirst(sender: Sender, [next]: readonly Due[], found: Found): Promise<Begun> {
  if (next !== undefined) return begin(sender, next, found)
  const told = tellUnrouted(sender, found)
  return told.length > 0 ? told : edit(sender, found)
}

/** In how many seconds the next edit is due. */
function untilEdit({ edited, edits, account, lastEdits }: Pauses, now: number): number {
  const next = edited.values().reduce((least, at) => Math.min(least, at + EDIT_SECONDS - now), EDIT_SECONDS)
  return Math.max(EDIT_PACE_SECONDS - 1, edits.left(), account.edits.left(), lastEdits.size > 0 ? 0 : next)
}

/** All that may be told. */
async function look(sender: Sender, now: Now, notified: Notified): Promise<Found> {
  const { inhibit, isSent, groupOf, byName, clock, free } = sender
  const suppression = now.shared(inhibit, () => suppressingAt(now, sender))(isSent)
  await now.turn()
  now.groups(groupOf)
  await now.turn()
  const what = { now, suppressing: suppression, groupOf, isSent, rules: byName, targets: sender.targets() }
  const known = { entries: notified.entries(), attempts: notified.attempts(), cursor: notified.state().cursor }
  const times = { freeFor: free.look(suppression), waitOf, monotonic: clock.monotonic() }
  return { now, notified, suppression, ...(await groupsOf({ ...what, ...known, ...times })) }
}

function suppressingAt({ silences, firing, ended }: Now, { mutes, inhibit }: Sender) {
  const fired: Fired[] = firing.map(({ alert }) => alert)
  for (const { change } of ended.values()) fired.push({ ...change, until: change.at })
  return suppressing({ mutes, inhibit, silences, fired })
}

/** Until each target was polled, by the slowest of their polls (seconds). */
function waitOf(alerts: readonly Live[]): number {
  const gaps = alerts.flatMap(({ instance }) => instance.lastGaps ?? [])
  return Math.min(WAIT.most, Math.max(WAIT.least, Math.max(0, ...gaps) + WAIT.afterPoll))
}

const unroutedKey = (group: string) => `unrouted ${group}`

/** The groups that are due, in their order, and in how many seconds another one may be. Forgets the pauses of groups that are gone. */
function dueAmong({ pauses, groupOf }: Sender, { groups, unrouted }: Found) {
  const others = unrouted.map(({ live }) => unroutedKey(groupOf(live.alert).key))
  pauses.keep(new Set([...groups.keys(), ...pauses.busy, ...others]))
  let soonest = LOOK_SECONDS
  const reached: Reached = (age, limit) => {
    if (age < limit) soonest = Math.min(soonest, limit - age)
    return age >= limit
  }
  const all = [...groups.values()].flatMap((group): Due | [] => {
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

function worstOf({ firing, heard, untold, unanswered }: Grouped) {
  const tried = unanswered.flatMap(({ begun, ended }) => [...begun, ...ended])
  const all = [...firing, ...heard, ...untold.map(({ change }) => change), ...tried]
  return all.reduce((worst, one) => (bySeverity(one, worst) < 0 ? one : worst))
}

function contextOf(sender: Sender, { now, suppression, notified }: Found): ComposeOptions {
  const { receiver: { name }, targets, freshFrom } = sender // oxfmt-ignore
  const known = once(() => new Set(notified.entries().flatMap((one) => (one.ended === undefined ? one.name : []))))
  const knows = (alert: string) => known().has(alert)
  return { ...sender, now, knows, suppressing: suppression, receiver: name, targets: targets(), freshFrom: freshFrom() }
}

async function begin(sender: Sender, { group, kind }: Due, found: Found): Promise<Begun> {
  const { pauses, clock } = sender
  const { key } = group.group
  const failingSince = failedSince(pauses, group)
  const [thread, merged] = [threadOf(group, found.groups), mergedIn(group, found.groups)]
  const sent = { id: randomUUID(), about: kind, thread, merged, failingSince }
  const { message, telling } = compose(group, sent, contextOf(sender, found))
  await found.notified.begin(telling)
  pauses.tried.set(key, clock.monotonic())
  const { notified } = found
  const accepted = async (posted: string | undefined) => {
    await notified.accepted(telling, posted)
    pauses.edited.set(key, clock.monotonic() - EDIT_SECONDS)
  }
  const failed = ({ problem = '', mayHaveArrived }: Attempt) =>
    notified.failed(telling, mayHaveArrived !== true, failingSince === undefined ? sender.mask(problem) : undefined)
  return [send(sender, key, message, { accepted, failed })]
}

/** Tells that what still fires is no longer sent here. */
function tellUnrouted(sender: Sender, found: Found): Begun {
  const { pauses, groupOf } = sender
  const worstFirst = found.unrouted.toSorted((a, b) => bySeverity(a.live.alert, b.live.alert))
  const byGroup = Map.groupBy(worstFirst, ({ live }) => unroutedKey(groupOf(live.alert).key))
  const [next] = [...byGroup].filter(([key]) => pauses.of(key).left() === 0 && !pauses.busy.has(key))
  if (next === undefined) return []
  const [key, own] = next
  const entries = own.map(({ entry }) => entry)
  const sent = { id: randomUUID(), about: 'unrouted' as const, thread: entries[0]!.thread, failingSince: undefined }
  const message = composeUnrouted(own, sent, contextOf(sender, found))
  const accepted = () => found.notified.unrouted(entries, sent.id)
  return [send(sender, key, message, { accepted, failed: async () => undefined })]
}

/** Sends a message. */
async function send(sender: Sender, key: string, message: AlertMessage, settle: Settle): Promise<Delivery> {
  const { receiver, pauses } = sender
  let posted: string | undefined
  pauses.busy.add(key)
  const attempt = await pauses
    .of(key)
    .attempt(async () => (posted = (await receiver.send(message)) ?? undefined), pauses.whole)
  if (attempt.outcome === 'sent') {
    pauses.accepted()
    await settle.accepted(posted)
    noteLastEdits(sender, message, posted)
  } else await settle.failed(attempt)
  pauses.busy.delete(key)
  return { receiver: receiver.name, message, ...(attempt.outcome === 'sent' && pauses.stillFails()), ...attempt }
}

/** What the messages show for good that are edited no more: that the incident is over, or in which one it continues. */
function noteLastEdits({ receiver, pauses }: Sender, message: AlertMessage, shown: string | undefined): void {
  if (receiver.edit === undefined || shown === undefined) return
  const { about, thread, merged = [] } = message
  const isOver = about === 'ended' || about === 'unrouted'
  // What an attempt without an answer has posted has no thread yet.
  if (isOver && (thread ?? shown) === shown) pauses.lastEdits.set(shown, { ...message, thread: shown })
  for (const before of [thread, ...merged])
    if (before !== undefined && before !== shown)
      pauses.lastEdits.set(before, { ...message, thread: before, continuesIn: shown })
}

/** Since when attempts to send this have failed (UNIX seconds), as far as this process and the store know. */
function failedSince(pauses: Pauses, { group: { key }, unanswered }: Grouped): number | undefined {
  const failed = [pauses.of(key), pauses.whole].map((one) => one.failed()?.since)
  const known = [...failed, ...unanswered.map(({ at }) => at)].filter((at) => at !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** Edits a message for the last time or, where none is left to, that of the incident that was edited least recently: so its numbers are true. */
function edit(sender: Sender, found: Found): Begun {
  if (sender.receiver.edit === undefined) return []
  const { edits, edited, editedAt: last, busy, account, lastEdits } = sender.pauses
  const at = sender.clock.monotonic()
  if (edits.left() > 0 || account.edits.left() > 0 || at - last < EDIT_PACE_SECONDS * account.members) return []
  const [final] = lastEdits.values()
  if (final !== undefined) return [sendLastEdit(sender, final)]
  const editedAt = ({ group }: Grouped) => edited.get(group.key) ?? -Infinity
  const all = [...found.groups.values()].flatMap((group) => {
    const thread = threadOf(group, found.groups)
    const isDue = at - editedAt(group) >= EDIT_SECONDS && !busy.has(group.group.key)
    return thread !== undefined && isDue ? { group, thread } : []
  })
  const [next] = all.toSorted((a, b) => editedAt(a.group) - editedAt(b.group))
  if (next === undefined) return []
  const { group, thread } = next
  edited.set(group.group.key, at)
  const merged = mergedIn(group, found.groups)
  const sent = { id: randomUUID(), about: 'edit' as const, thread, merged, failingSince: undefined }
  return [sendEdit(sender, compose(group, sent, contextOf(sender, found)), group.group.key, found.notified)]
}

async function sendEdit(
  sender: Sender,
  { message, telling }: Composed,
  key: string,
  notified: Notified,
): Promise<Delivery | undefined> {
  const { busy } = sender.pauses
  busy.add(key)
  const { shown, delivery } = await attemptEdit(sender, message)
  if (shown !== undefined) {
    await notified.edited(telling, shown)
    noteLastEdits(sender, message, shown)
  }
  busy.delete(key)
  return delivery
}

async function sendLastEdit(sender: Sender, message: AlertMessage): Promise<Delivery | undefined> {
  const { lastEdits } = sender.pauses
  const { thread = '' } = message
  lastEdits.delete(thread)
  const { delivery, hasFailed } = await attemptEdit(sender, message, unlessRefused)
  if (hasFailed) lastEdits.set(thread, message)
  return delivery
}

/** Nobody needs to know that the message of what is over may not be edited. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof DeliveryError) || error.retryable) throw error
}

/** Edits a message. A success is a delivery only after a failure. */
async function attemptEdit(
  { receiver, pauses, clock }: Sender,
  message: AlertMessage,
  onError?: (error: unknown) => undefined,
) {
  const { edits, account } = pauses
  const hadFailed = [edits, account.edits].some((one) => one.failed() !== undefined)
  let shown: string | undefined
  pauses.editedAt = clock.monotonic()
  const attempt = await edits.attempt(async () => (shown = await receiver.edit!(message).catch(onError)), account.edits)
  const hasFailed = attempt.outcome !== 'sent'
  const delivery: Delivery | undefined = hasFailed || hadFailed ? { receiver: receiver.name, ...attempt } : undefined
  return { shown, delivery, hasFailed }
}
