import * as z from 'zod'
import { CALL_STATUSES, PARTICIPANT_STATES, RECEIVER_TYPES, TYPES, type SeenCall } from '../ledger/call.ts'
import type { Found, Wanted } from '../ledger/found-calls.ts'
import { outcomeText, rings } from './call-text.ts'
import { count, namedObject, seconds, time, timeOrNull } from './shapes.ts'

/** A call as the service shows it now. Who took part is in no store, log or event. */
const foundCall = z.object({
  session_id: z.string(),
  began: time.nullable(),
  type: z.enum(TYPES).nullable(),
  receiver_type: z.enum(RECEIVER_TYPES).nullable(),
  status: z.enum(CALL_STATUSES),
  initiator: z.string().nullable().describe('Id of the user who began it'),
  receiver: z.string().nullable().describe('Id of the user or group'),
  rang_seconds: seconds.nullable().describe('Until it was answered, or until it ended or now'),
  connected_seconds: seconds.nullable(),
  user: z
    .object({
      joined: z.boolean().nullable().describe('Null if the service does not say'),
      state: z.enum(PARTICIPANT_STATES).nullable(),
    })
    .nullable()
    .describe('The user whose calls are searched for, in this call; null if the service does not list the user'),
  invited: count.nullable().describe('The people whom the call lists, without who began it; null if that is not known'),
  joined: count.nullable().describe('How many of them joined'),
  text: z.string().describe('What became of it, in a sentence without the time'),
})
export type FoundCall = z.output<typeof foundCall>

export const foundCalls = namedObject('FoundCalls', {
  target: z.string(),
  calls: z.array(foundCall).describe('Newest first'),
  filter: z
    .enum(['honoured', 'ignored', 'refused', 'none'])
    .describe(
      'What the service made of the filter by user or group, `none` for a session; if it ignored or refused the filter, callwatch filtered the list itself',
    ),
  unclear: count.describe('Calls of such a list that do not say who took part, which are left out'),
  complete: z.boolean().describe('False if only a part of the list could be read'),
})
export type FoundCalls = z.output<typeof foundCalls>

/** @param now the service's clock (UNIX seconds) */
export function foundCallsView(target: string, found: Found, wanted: Wanted, now: number): FoundCalls {
  const { calls, filter, unclear, isWhole } = found
  const uid = 'uid' in wanted ? wanted.uid : undefined
  return { target, calls: calls.map((call) => foundCallView(call, uid, now)), filter, unclear, complete: isWhole }
}

function foundCallView(call: SeenCall, uid: string | undefined, now: number): FoundCall {
  const { session, type = null, receiverType = null, status, parties } = call
  const { initiator = null, receiver = null } = parties ?? {}
  const people = peopleIn(call)
  const view = {
    session_id: session,
    began: timeOrNull(beganOf(call)),
    type,
    receiver_type: receiverType,
    status,
    initiator,
    receiver,
    ...durationsOf(call, now),
    ...joiningOf(call, people, uid),
  }
  const said = call.invited === undefined ? [] : people
  const outcome = outcomeText(status, { rang: view.rang_seconds, connected: view.connected_seconds })
  return { ...view, text: `${headOf(view, uid)}: ${[outcome, ...joinsOf(view, said, uid)].join('; ')}` }
}

/** Who was invited and joined, as far as the service says. */
function joiningOf({ invited }: SeenCall, people: readonly Person[], uid: string | undefined) {
  const user = people.find((person) => person.uid === uid)
  return {
    user:
      user === undefined
        ? null
        : { joined: user.joined || (invited === undefined ? null : false), state: user.state ?? null },
    invited: invited === undefined ? null : invited.joined + invited.absent,
    joined: invited?.joined ?? null,
  }
}

/** A room may keep the time at which it was opened first. */
function beganOf({ initiatedAt, startedAt, endedAt, ...call }: SeenCall): number | undefined {
  const times = rings(call.mode) ? [initiatedAt, startedAt] : [startedAt, initiatedAt]
  return [...times, endedAt].find((time) => time !== undefined)
}

/** How long it rang, and how long it has been connected. */
function durationsOf(call: SeenCall, now: number) {
  const { status, initiatedAt, startedAt, endedAt, end } = call
  const isConnected = status === 'ended' || status === 'ongoing'
  const until = status === 'initiated' || status === 'ongoing' ? now : (endedAt ?? end)
  const between = (from = NaN, to = NaN) => (to >= from ? to - from : null)
  return {
    rang_seconds: rings(call.mode) ? between(initiatedAt, isConnected ? startedAt : until) : null,
    connected_seconds: isConnected ? between(startedAt, until) : null,
  }
}

type Person = { uid: string; joined: boolean; state: FoundState | undefined }
type FoundState = (typeof PARTICIPANT_STATES)[number]

/** Everybody whom the call lists. A person has an entry for each time and device: one that joined counts. */
function peopleIn({ participants = [] }: SeenCall): Person[] {
  const people = new Map<string, Person>()
  for (const { uid, joined, state } of participants)
    if (uid !== undefined && people.get(uid)?.joined !== true) people.set(uid, { uid, joined, state })
  return [...people.values()]
}

type Told = Omit<FoundCall, 'text'>

/** `audio, from alice to group lobby` */
function headOf({ type, initiator, receiver, receiver_type }: Told, uid: string | undefined): string {
  const from = initiator === null || initiator === uid ? '' : `from ${initiator}`
  const to = receiver === null || receiver === uid ? '' : `to ${receiver_type === 'group' ? 'group ' : ''}${receiver}`
  return [type ?? 'call', [from, to].filter(Boolean).join(' ')].filter(Boolean).join(', ')
}

/** Who joined a group's call, and who is missing in a call of two. */
function joinsOf(call: Told, people: readonly Person[], uid: string | undefined): string[] {
  const { receiver_type, status, initiator, connected_seconds } = call
  if (status === 'initiated') return []
  if (receiver_type === 'group') {
    const own = people.filter((person) => person.uid === uid)
    const soFar = status === 'ongoing' ? ' so far' : ''
    const all = call.invited ? `${call.joined} of ${call.invited} invited people joined${soFar}` : []
    return [all, own.map((person) => (person.joined ? `${person.uid} joined` : absenceOf(person)))].flat()
  }
  // Before a call is connected, who began it has not joined either.
  const isMissing = (person: Person) => !person.joined && (person.uid !== initiator || connected_seconds !== null)
  return status === 'rejected' ? [] : people.filter(isMissing).map(absenceOf)
}

const absenceOf = ({ uid, state }: Person) =>
  state === 'rejected' ? `${uid} rejected it` : `${uid}'s device did not join`
