import { chance, pick, whole, type Random } from '../../../../src/simulator/random.ts'

/** A call as the wire shows it. */
export type Wire = Record<string, unknown>

/**
 * Shows a call in another form, in one answer only; never changes what it is given. A list counts items
 * that cannot be used; Get Call knows from its request which call it shows, so there only the status may be unusable.
 */
type Oddity = (wire: Wire, context: { random: Random; operation: 'list' | 'get' }) => unknown

const SDK_SPELLINGS: Record<string, string> = { canceled: 'cancelled', unanswered: 'missed', rejected: 'busy' }
/** Instead of a field that is absent. */
const MISSING = Symbol('missing')
const TIMES = ['initiatedAt', 'startedAt']
const MINUTES = ['totalAudioMinutes', 'totalVideoMinutes', 'totalDurationInMinutes']
const TEXTS = ['mid', 'initiator', 'receiver', 'totalDuration', 'tags', 'metaData']
const OTHERS = ['hasRecording', 'hasTranscription', 'totalParticipants', 'recordings', 'participants']
const FIELDS = [...TIMES, ...MINUTES, ...TEXTS, ...OTHERS]
/** No number, text or list can be read from these. */
const NONSENSE = [MISSING, null, {}, [], true, '']
const BAD_MINUTES = ['n/a', -1, 1e12, [5], { minutes: 5 }]

/** How an answer may show a call oddly, by the name in the switch `odd`, in the order in which they are applied. */
export const oddities = {
  /** The status as the vendor's SDKs spell it, or in capitals. Expected: the same status. */
  spelling: (wire, { random }) => {
    const { status } = wire
    if (typeof status !== 'string') return wire
    const spelled = SDK_SPELLINGS[status] ?? status
    return {
      ...wire,
      status: pick(random, [spelled, spelled.toUpperCase(), capitalized(spelled), capitalized(status)]),
    }
  },
  /** Times in milliseconds. Expected: the same seconds. */
  milliseconds: (wire) => withTimes(wire, (time) => time * 1000),
  /**
   * Up to three fields missing, null, or of another type: numbers as texts, objects, lists, booleans. Never the
   * session id, the status, a label or the end of a final call, without which a call would count otherwise: `endedAt`, or all times of
   * one that has none. Expected: as if they had
   * been right. None of these can be read as another value, so it is enough to see the call right once.
   */
  fields: (wire, { random }) => {
    const odd: Wire = { ...wire }
    const hasNoEnd =
      (wire['endedAt'] ?? undefined) === undefined && wire['status'] !== 'initiated' && wire['status'] !== 'ongoing'
    const times = whole(random, 1, 3)
    for (let i = 0; i < times; i++) {
      const name = pick(random, FIELDS)
      if (hasNoEnd && TIMES.includes(name)) continue
      const value = oddValue(random, name, wire)
      if (value === MISSING) delete odd[name]
      else odd[name] = value
    }
    // Without both media a reader takes the total for one of them.
    if (!isRead(odd['totalAudioMinutes']) && !isRead(odd['totalVideoMinutes'])) delete odd['totalDurationInMinutes']
    return odd
  },
  /**
   * An item that cannot be used: without session id, without status, or no object. Expected: nothing is known from it,
   * as if the call had not been in this answer. Such items of one answer differ, but for an occasional null.
   */
  unusable: (wire, { random, operation }) => {
    const { sessionId: _sessionId, ...nameless } = wire
    const { status: _status, ...statusless } = wire
    const withoutStatus = [statusless, { ...wire, status: null }, { ...wire, status: '' }, { ...wire, status: 7 }]
    const withoutId = [nameless, { ...wire, sessionId: null }, { ...wire, sessionId: '' }, { ...wire, sessionId: {} }]
    const noObject = [null, `call ${String(wire['mid'])}`, whole(random, 1, 1e9), [wire]]
    return pick<unknown>(random, operation === 'get' ? withoutStatus : [...withoutStatus, ...withoutId, ...noObject])
  },
} satisfies Record<string, Oddity>

export type OddityName = keyof typeof oddities

export const oddityNames = Object.keys(oddities).filter((name): name is OddityName => Object.hasOwn(oddities, name))

/** The names of the oddities that chance gives a call, most often none; each is drawn independently. */
export function drawOddities(random: Random, odd: Partial<Record<OddityName, number>>): OddityName[] {
  return oddityNames.filter((name) => {
    const probability = odd[name] ?? 0
    return probability > 0 && random() < probability
  })
}

/** The call with these oddities. */
export function oddly(wire: Wire, names: readonly OddityName[], context: Parameters<Oddity>[1]): unknown {
  return names.reduce<unknown>((shown, name) => oddities[name](isWire(shown) ? shown : wire, context), wire)
}

export function withTimes(wire: Wire, change: (time: number) => number): Wire {
  const changed = { ...wire }
  for (const name of [...TIMES, 'endedAt']) {
    const time = changed[name]
    if (typeof time === 'number' && time > 0) changed[name] = change(time)
  }
  return changed
}

function oddValue(random: Random, name: string, wire: Wire): unknown {
  const value = wire[name]
  if (name === 'participants') return oddParticipants(random, wire)
  if (value === undefined) return pick(random, [MISSING, null])
  if (typeof value === 'boolean') return pick(random, [String(value), Number(value), MISSING, null, {}, []])
  if (typeof value === 'number' && chance(random, 0.4)) return String(value)
  if (MINUTES.includes(name)) return pick(random, [...NONSENSE, ...BAD_MINUTES])
  if (TIMES.includes(name)) return pick(random, [...NONSENSE, 'yesterday', -1, 0])
  if (name === 'totalParticipants') return pick(random, [...NONSENSE, 'two', -2])
  return pick(random, [...NONSENSE, 7])
}

/** No list of participants, or one with something wrong. Their minutes are right or unknown. */
function oddParticipants(random: Random, { participants, type }: Wire): unknown {
  const entries: Wire[] = Array.isArray(participants) ? participants : []
  const at = whole(random, 0, entries.length - 1)
  const withOne = (change: (entry: Wire) => Wire): Wire[] =>
    entries.map((entry, index) => (index === at ? change(entry) : entry))
  return pick(random, [
    null,
    [],
    {},
    'none',
    true,
    // A reader ignores items that are no entries.
    [null, 'user-1', ...entries, 7, []],
    entries.map(({ uid }) => ({ uid })),
    withOne((entry) => ({ ...entry, totalAudioMinutes: 'many' })),
    withOne((entry) => ({ ...entry, totalVideoMinutes: -1 })),
    withOne((entry) => ({ ...entry, totalAudioMinutes: String(entry['totalAudioMinutes']) })),
    withOne((entry) => ({ ...entry, totalDurationInMinutes: {}, joinedAt: 'now', isJoined: null, state: 3 })),
    // As in the published sample: `totalDuration` is a float of minutes.
    entries.map(({ totalDurationInMinutes, ...entry }) => ({ ...entry, totalDuration: totalDurationInMinutes })),
    // An audio call has no video minutes: the total is enough.
    type === 'audio'
      ? entries.map(({ totalAudioMinutes: _audio, totalVideoMinutes: _video, ...entry }) => entry)
      : entries,
  ])
}

function isRead(value: unknown): boolean {
  const number = typeof value === 'number' || (typeof value === 'string' && value !== '') ? Number(value) : NaN
  return number >= 0 && number < 1e9
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

function isWire(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
