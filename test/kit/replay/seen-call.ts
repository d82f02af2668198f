export type Medium = 'audio' | 'video'

/** Minutes by medium, where they are known; `total` goes to the medium of the call's type. */
export type SeenMinutes = { audio?: number; video?: number; total?: number }

/** What one item of an answer says about a call; absent is what it does not say. Times in whole seconds. */
export type SeenCall = {
  id: string
  status: string
  final: boolean
  labels: { type?: string; mode?: string; receiver_type?: string }
  initiatedAt?: number | undefined
  startedAt?: number | undefined
  ownTime?: number
  /** When it ended, if it has and that can be said: by `endedAt`, or by other times. */
  endedAt?: number | undefined
  leftAt?: number | undefined
  callMinutes: SeenMinutes
  participantMinutes: SeenMinutes
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
const YEAR_2000 = Date.UTC(2000) / 1000
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

  const time = (value: unknown): number | undefined => {
    const number = usable(numberOf(value, anomalies))
    if (number === undefined || number === 0) return undefined
    const seconds = number > 1e11 ? number / 1000 : number
    if (seconds >= YEAR_2000 && seconds <= options.now + 86_400) return Math.floor(seconds)
    anomalies.add('bad_value')
    return undefined
  }
  const initiatedAt = time(item['initiatedAt'])
  const startedAt = time(item['startedAt'])
  const endedAt = time(item['endedAt'])
  const entries = Array.isArray(item['participants']) ? item['participants'].filter(isObject) : []
  const left = entries.flatMap(({ joinedAt, leftAt }) => [time(joinedAt), time(leftAt)].slice(1))
  const lasted = typeof item['totalDuration'] === 'string' ? Date.parse(`1970-01-01T${item['totalDuration']}Z`) : NaN
  if (reversed(initiatedAt, startedAt) || reversed(startedAt, endedAt) || reversed(initiatedAt, endedAt)) {
    anomalies.add('time_reversed')
  }
  const people = usable(numberOf(item['totalParticipants'], anomalies, 1e6)) ?? 0
  if (!Number.isInteger(people)) anomalies.add('bad_value')
  else if (people > 50) anomalies.add('too_many_participants')
  const ownTime = endedAt ?? startedAt ?? initiatedAt
  return {
    id: text,
    status,
    final: status === 'other' ? endedAt !== undefined : FINAL.includes(status),
    labels: {
      ...label('type', item['type'], DOCUMENTED.type),
      ...label('mode', item['mode'], DOCUMENTED.mode),
      ...label('receiver_type', singular(item['receiverType']), DOCUMENTED.receiverType),
    },
    initiatedAt,
    startedAt,
    endedAt,
    leftAt:
      left.reduce((a, b) => (a === undefined || (b ?? 0) > a ? b : a), undefined) ?? usable(startedAt! + lasted / 1000),
    ...(ownTime === undefined ? {} : { ownTime }),
    callMinutes: readCallMinutes(item, anomalies),
    participantMinutes: readParticipants(item['participants'], anomalies),
    anomalies,
  }
}

/** The total is used only where neither medium is given. */
function readCallMinutes(item: Item, anomalies: Set<string>): SeenMinutes {
  const audio = minutesOf(item['totalAudioMinutes'], anomalies)
  const video = minutesOf(item['totalVideoMinutes'], anomalies)
  const total = minutesOf(item['totalDurationInMinutes'], anomalies)
  return known({ audio, video, total: audio === undefined && video === undefined ? total : undefined })
}

/**
 * Sums over the entries. Nothing is known where no entry says anything; a number that cannot be used makes its sum
 * unknown, and both where it is the only total of an entry. `total` is the sum over the entries that have only that.
 */
function readParticipants(value: unknown, anomalies: Set<string>): SeenMinutes {
  if (!Array.isArray(value)) return {}
  const sums = { audio: 0, video: 0, total: 0 }
  let isSaid = false
  for (const entry of value.filter(isObject)) {
    const audio = minutesOf(entry['totalAudioMinutes'], anomalies)
    const video = minutesOf(entry['totalVideoMinutes'], anomalies)
    const float = entry['totalDuration']
    const duration = typeof float === 'number' ? minutesOf(float, anomalies) : undefined
    const total = minutesOf(entry['totalDurationInMinutes'], anomalies) ?? duration
    sums.audio += audio ?? 0
    sums.video += video ?? 0
    if (audio === undefined && video === undefined) sums.total += total ?? 0
    isSaid ||= [audio, video, total].some((said) => said !== undefined)
  }
  return isSaid && !Number.isNaN(sums.total) ? known(sums) : {}
}

/** Missing, null and empty text say nothing; NaN, which is the anomaly, is what no number of 0 or more can be read from. */
function numberOf(value: unknown, anomalies: Set<string>, most = Infinity): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && value.trim() === '') return undefined
  const number = typeof value === 'number' || typeof value === 'string' ? Number(value) : NaN
  if (Number.isFinite(number) && number >= 0 && number <= most) return number
  anomalies.add('bad_value')
  return NaN
}

function minutesOf(value: unknown, anomalies: Set<string>): number | undefined {
  return numberOf(value, anomalies, MOST_MINUTES)
}

function label(name: string, value: unknown, documented: string[]): Record<string, string> {
  if (value === undefined || value === null || value === '') return {}
  return { [name]: typeof value === 'string' && documented.includes(value) ? value : 'other' }
}

/** `users` and `groups` are other spellings of `user` and `group`. */
function singular(value: unknown): unknown {
  return value === 'users' || value === 'groups' ? value.slice(0, -1) : value
}

function usable(value: number | undefined): number | undefined {
  return Number.isNaN(value) ? undefined : value
}

function known(minutes: { [Name in keyof SeenMinutes]-?: number | undefined }): SeenMinutes {
  return Object.fromEntries(Object.entries(minutes).filter(([, value]) => usable(value) !== undefined))
}

function reversed(earlier: number | undefined, later: number | undefined): boolean {
  return earlier !== undefined && later !== undefined && later < earlier
}

export function isObject(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
