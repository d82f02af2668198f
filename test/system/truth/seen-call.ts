export type Medium = 'audio' | 'video'

/** What one item of an answer says about a call; absent is what it does not say. Times in whole seconds. */
export type SeenCall = {
  id: string
  status: string
  final: boolean
  labels: { type?: string; mode?: string; receiver_type?: string }
  ownTime?: number
  callMinutes: { audio?: number; video?: number; duration?: number }
  participantMinutes?: { audio: number; video: number; duration: number }
  anomalies: Set<string>
}

export type ReadOptions = {
  /** The service's clock, seconds since 1970. */
  now: number
  /** Other spellings of statuses, in lower case. */
  statusMap: Record<string, string>
}

type Item = Record<string, unknown>

const FINAL = ['ended', 'unanswered', 'rejected', 'canceled']
const STATUSES = ['initiated', 'ongoing', ...FINAL]
const DOCUMENTED = {
  type: ['audio', 'video'],
  mode: ['call', 'meet', 'presenter'],
  receiverType: ['user', 'group'],
}
const MOST_MINUTES = 50 * 31 * 24 * 60

/** Reads one item; a text is the reason for which it is rejected. */
export function readCall(item: unknown, options: ReadOptions): SeenCall | string {
  if (!isObject(item)) return 'not_an_object'
  const id = item['sessionId']
  const text = typeof id === 'number' && Number.isFinite(id) ? String(id) : id
  if (typeof text !== 'string' || text === '') return 'no_session_id'
  const rawStatus = item['status']
  if (typeof rawStatus !== 'string' || rawStatus === '') return 'no_status'

  const anomalies = new Set<string>()
  const spelled = rawStatus.toLowerCase()
  const mapped = options.statusMap[spelled] ?? spelled
  const status = STATUSES.includes(mapped) ? mapped : 'other'
  if (status === 'other') anomalies.add('unknown_status')

  const time = (name: string): number | undefined => {
    const value = numberOf(item[name], anomalies)
    const seconds = value !== undefined && value > 1e11 ? value / 1000 : value
    return seconds === undefined || seconds > options.now + 86_400 ? undefined : Math.floor(seconds)
  }
  const initiatedAt = time('initiatedAt')
  const startedAt = time('startedAt')
  const endedAt = time('endedAt')
  if (reversed(initiatedAt, startedAt) || reversed(startedAt, endedAt) || reversed(initiatedAt, endedAt)) {
    anomalies.add('time_reversed')
  }
  if ((numberOf(item['totalParticipants'], anomalies) ?? 0) > 50) anomalies.add('too_many_participants')
  const ownTime = endedAt ?? startedAt ?? initiatedAt
  const participantMinutes = readParticipants(item['participants'], anomalies)
  return {
    id: text,
    status,
    final: status === 'other' ? endedAt !== undefined : FINAL.includes(status),
    labels: {
      ...label('type', item['type'], DOCUMENTED.type),
      ...label('mode', item['mode'], DOCUMENTED.mode),
      ...label('receiver_type', item['receiverType'], DOCUMENTED.receiverType),
    },
    ...(ownTime === undefined ? {} : { ownTime }),
    callMinutes: {
      ...given('audio', minutesOf(item['totalAudioMinutes'], anomalies)),
      ...given('video', minutesOf(item['totalVideoMinutes'], anomalies)),
      ...given('duration', minutesOf(item['totalDurationInMinutes'], anomalies)),
    },
    ...(participantMinutes ? { participantMinutes } : {}),
    anomalies,
  }
}

/** Sums over the entries; `duration` is the sum over those that have nothing else, and goes to the medium of `type`. */
function readParticipants(value: unknown, anomalies: Set<string>): SeenCall['participantMinutes'] {
  if (!Array.isArray(value)) return undefined
  const sums = { audio: 0, video: 0, duration: 0 }
  for (const entry of value.filter(isObject)) {
    const audio = minutesOf(entry['totalAudioMinutes'], anomalies)
    const video = minutesOf(entry['totalVideoMinutes'], anomalies)
    const total = minutesOf(entry['totalDurationInMinutes'], anomalies)
    const float = entry['totalDuration']
    const duration = total ?? (typeof float === 'number' ? minutesOf(float, anomalies) : undefined)
    sums.audio += audio ?? 0
    sums.video += video ?? 0
    if (audio === undefined && video === undefined) sums.duration += duration ?? 0
  }
  return sums
}

/** Absent stays absent; anything else that is no number of 0 or more is a bad value and then absent too. */
function numberOf(value: unknown, anomalies: Set<string>, most = Infinity): number | undefined {
  if (value === undefined || value === null) return undefined
  const isText = typeof value === 'string' && value.trim() !== ''
  const number = typeof value === 'number' || isText ? Number(value) : NaN
  if (Number.isFinite(number) && number >= 0 && number <= most) return number
  anomalies.add('bad_value')
  return undefined
}

function minutesOf(value: unknown, anomalies: Set<string>): number | undefined {
  return numberOf(value, anomalies, MOST_MINUTES)
}

function label(name: string, value: unknown, documented: string[]): Record<string, string> {
  if (value === undefined || value === null) return {}
  return { [name]: typeof value === 'string' && documented.includes(value) ? value : 'other' }
}

function given(name: string, value: number | undefined): Record<string, number> {
  return value === undefined ? {} : { [name]: value }
}

function reversed(earlier: number | undefined, later: number | undefined): boolean {
  return earlier !== undefined && later !== undefined && later < earlier
}

export function isObject(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
