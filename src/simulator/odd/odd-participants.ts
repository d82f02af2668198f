import { whole } from '../draw.ts'
import type { Random } from '../random.ts'
import type { Wire } from './oddity.ts'

/** Whether the list of participants is there at all, and what is wrong with it. Their minutes are right or unknown. */
export function oddParticipants(random: Random, wire: Wire): unknown {
  const { participants, type } = wire
  const entries: Wire[] = Array.isArray(participants) ? participants : []
  const at = whole(random, 0, entries.length - 1)
  const withOne = (change: (entry: Wire) => Wire): Wire[] =>
    entries.map((entry, index) => (index === at ? change(entry) : entry))
  const forms: (() => unknown)[] = [
    () => null,
    () => [],
    () => ({}),
    () => 'none',
    () => true,
    // What is no entry says nothing.
    () => [null, 'user-1', ...entries, 7, []],
    () => entries.map(({ uid }) => ({ uid })),
    () => withOne((entry) => ({ ...entry, totalAudioMinutes: 'many' })),
    () => withOne((entry) => ({ ...entry, totalVideoMinutes: -1 })),
    () => withOne((entry) => ({ ...entry, totalAudioMinutes: String(entry['totalAudioMinutes']) })),
    () => withOne((entry) => ({ ...entry, totalDurationInMinutes: {}, joinedAt: 'now', isJoined: null, state: 3 })),
    () => entries.map(asPublished),
    // An audio call has no video minutes, so that the total says all.
    () => (type === 'audio' ? entries.map(onlyTotal) : entries),
  ]
  return forms[whole(random, 0, forms.length - 1)]!()
}

/** As in the published sample: `totalDuration` is a float of minutes. */
function asPublished({ totalDurationInMinutes, ...entry }: Wire): Wire {
  return { ...entry, totalDuration: totalDurationInMinutes }
}

function onlyTotal({ totalAudioMinutes: _audio, totalVideoMinutes: _video, ...entry }: Wire): Wire {
  return entry
}
