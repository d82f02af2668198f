import { chance, whole } from '../draw.ts'
import type { Random } from '../random.ts'
import { oddParticipants } from './odd-participants.ts'
import type { Oddity, Wire } from './oddity.ts'

/** Stands for a field that is not there. */
const MISSING = Symbol('missing')

const TIMES = ['initiatedAt', 'startedAt']
const MINUTES = ['totalAudioMinutes', 'totalVideoMinutes', 'totalDurationInMinutes']
const TEXTS = ['mid', 'initiator', 'receiver', 'totalDuration', 'tags', 'metaData']
const OTHERS = ['hasRecording', 'hasTranscription', 'totalParticipants', 'recordings', 'participants']
const NAMES = [...TIMES, ...MINUTES, ...TEXTS, ...OTHERS]

/** What no number, text or list can be read from. */
const NONSENSE = [MISSING, null, {}, [], true, '']
const BAD_MINUTES = ['n/a', -1, 1e12, [5], { minutes: 5 }]

/**
 * Up to three fields missing, null, or of another type: numbers as texts, objects, lists, truth values. Never the
 * session id, the status, a label or `endedAt`, without which a call would count otherwise. Truth: as if they had been
 * right. Nothing that is said so can be taken for another value, so that it is enough to see the call right once, before
 * or after.
 */
export const fields: Oddity = (wire, { random }) => {
  const odd: Wire = { ...wire }
  const times = whole(random, 1, 3)
  for (let i = 0; i < times; i++) {
    const name = one(random, NAMES)
    const value = oddValue(random, name, wire)
    if (value === MISSING) delete odd[name]
    else odd[name] = value
  }
  // With neither medium a total would be taken for one of them.
  if (!isRead(odd['totalAudioMinutes']) && !isRead(odd['totalVideoMinutes'])) delete odd['totalDurationInMinutes']
  return odd
}

function oddValue(random: Random, name: string, wire: Wire): unknown {
  const value = wire[name]
  if (name === 'participants') return oddParticipants(random, wire)
  if (value === undefined) return one(random, [MISSING, null])
  if (typeof value === 'boolean') return one(random, [String(value), Number(value), MISSING, null, {}, []])
  if (typeof value === 'number' && chance(random, 0.4)) return String(value)
  if (MINUTES.includes(name)) return one(random, [...NONSENSE, ...BAD_MINUTES])
  if (TIMES.includes(name)) return one(random, [...NONSENSE, 'yesterday', -1, 0])
  if (name === 'totalParticipants') return one(random, [...NONSENSE, 'two', -2])
  return one(random, [...NONSENSE, 7])
}

function isRead(value: unknown): boolean {
  const number = typeof value === 'number' || (typeof value === 'string' && value !== '') ? Number(value) : NaN
  return number >= 0 && number < 1e9
}

function one<Item>(random: Random, items: readonly Item[]): Item {
  return items[whole(random, 0, items.length - 1)]!
}
