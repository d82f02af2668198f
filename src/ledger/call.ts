/** The statuses of a call. In all enumerations, `other` stands for every value that the service does not document. */
export const OPEN_STATUSES = ['initiated', 'ongoing'] as const
export const FINAL_STATUSES = ['ended', 'unanswered', 'rejected', 'canceled'] as const
export type FinalStatus = (typeof FINAL_STATUSES)[number] | 'other'
export const CALL_STATUSES = [...OPEN_STATUSES, ...FINAL_STATUSES, 'other'] as const
export type CallStatus = (typeof CALL_STATUSES)[number]

export const TYPES = ['audio', 'video', 'other'] as const
export const MODES = ['call', 'meet', 'presenter', 'other'] as const
export const RECEIVER_TYPES = ['user', 'group', 'other'] as const
export type CallType = (typeof TYPES)[number]
export type CallMode = (typeof MODES)[number]
export type ReceiverType = (typeof RECEIVER_TYPES)[number]

/** The labels of a call's series. {@link labelsOf} interns them: equal label sets are the same object. */
export type Labels = { readonly type: CallType; readonly mode: CallMode; readonly receiverType: ReceiverType }

const interned = byValue(TYPES, (type) =>
  byValue(MODES, (mode) => byValue(RECEIVER_TYPES, (receiverType) => Object.freeze({ type, mode, receiverType }))),
)

/** The interned label set of these values. */
export function labelsOf(type: CallType, mode: CallMode, receiverType: ReceiverType): Labels {
  return interned[type][mode][receiverType]
}

/** All label sets. */
export const ALL_LABELS: readonly Labels[] = TYPES.flatMap((type) =>
  MODES.flatMap((mode) => RECEIVER_TYPES.map((receiverType) => labelsOf(type, mode, receiverType))),
)

/** The label sets of documented values, in the order of the documentation. */
export const DOCUMENTED_LABELS: readonly Labels[] = ALL_LABELS.filter(
  ({ type, mode, receiverType }) => type !== 'other' && mode !== 'other' && receiverType !== 'other',
)

/**
 * The values that a call takes from an answer as they are, under the names that the service uses. Times are UNIX seconds. A value
 * that the answer omits stays as it was.
 */
export type AnsweredValues = {
  initiatedAt: number | undefined
  startedAt: number | undefined
  endedAt: number | undefined
  totalParticipants: number | undefined
  /** A digest of the service's text (identity.ts). */
  mid: number | undefined
}

/**
 * A call as one answer of the service showed it, normalized. Times are UNIX seconds. `undefined` means that the answer had no
 * usable value.
 */
export type SeenCall = AnsweredValues & {
  /** The id of the call (identity.ts). */
  id: string
  session: string
  status: CallStatus
  type: CallType | undefined
  mode: CallMode | undefined
  receiverType: ReceiverType | undefined
  /** Call-level minutes. `total` is set only if neither medium was given. */
  callMinutes: SeenMinutes
  /** Participant-level minutes, summed over the entries. `total` is the sum of the entries without a medium. */
  participantMinutes: SeenMinutes
  /** Whether the answer had a list of participants. Without a list it says nothing about their minutes. */
  hasParticipantList: boolean
  /**
   * Participants who are in the call now: joined and not left. Without a list of participants, the service's
   * `totalParticipants`.
   */
  joined: number | undefined
  /** Undefined if the answer does not show it of each participant. */
  invited?: Invited | undefined
  hasRecording: boolean
  /**
   * When it ended by other times than `endedAt`: the latest `leftAt` of its participants, else `startedAt` plus `totalDuration`. It
   * means nothing while the call is open.
   */
  end?: number | undefined
  /** When an answer last showed the call as open; undefined if none did since the process started. */
  openUntil?: number | undefined
  /** The latest of its times that is too far in the future to be accepted. callwatch may accept it once it is nearer. */
  ahead?: number | undefined
  /** Whether one of its numbers was unusable and discarded. */
  badValue: boolean
  /** The participants, for events. Undefined if the answer has no list, or if events must not have participants. */
  participants?: readonly SeenParticipant[]
  /** Who called whom, if it is read: ids of users or of a group. The ledger does not keep them. */
  parties?: { initiator: string | undefined; receiver: string | undefined }
}

/**
 * The people of a call but its initiator: how many of them joined it, and how many did not. Each is one person, on however many devices
 * and however often they joined.
 */
export type Invited = { readonly joined: number; readonly absent: number }

export const PARTICIPANT_STATES = ['ongoing', 'ended', 'unanswered', 'rejected', 'other'] as const

/** A participant as an answer shows them. The ledger does not keep participants. */
export type SeenParticipant = {
  uid: string | undefined
  state: (typeof PARTICIPANT_STATES)[number] | undefined
  /** Whether they have joined the call. */
  joined: boolean
  joinedAt: number | undefined
  leftAt: number | undefined
  minutes: SeenMinutes
}

export type SeenMinutes = { audio: number | undefined; video: number | undefined; total: number | undefined }

/** The call's final status; undefined while it is open. An undocumented status is final once the call has an `endedAt`. */
export function finalStatus({ status, endedAt }: Pick<SeenCall, 'status' | 'endedAt'>): FinalStatus | undefined {
  if (status === 'initiated' || status === 'ongoing') return undefined
  return status === 'other' && endedAt === undefined ? undefined : status
}

/** The call's own time (UNIX seconds), which decides about baseline and horizon; undefined if the service gave none. */
export function ownTime(call: Pick<SeenCall, 'initiatedAt' | 'startedAt' | 'endedAt'>): number | undefined {
  return call.endedAt ?? call.startedAt ?? call.initiatedAt
}

/** An object that has something made of each value. */
export function byValue<Value extends string, T>(
  values: readonly Value[],
  make: (value: Value) => T,
): Record<Value, T> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.fromEntries forgets the keys
  return Object.fromEntries(values.map((value) => [value, make(value)])) as Record<Value, T>
}
