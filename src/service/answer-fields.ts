const MINUTES = 'totalAudioMinutes totalVideoMinutes totalDurationInMinutes totalDuration'

/**
 * The documented fields of answers, and those that were seen: for each form of an object, the names of its fields by kind. A kind is another form, or what a
 * value is: `id`, `label`, `number` (also a flag, and `HH:MM:SS`), `time`, or `text`, which callwatch does not read.
 */
const FORMS: Record<string, Record<string, string>> = {
  envelope: { call: 'data', meta: 'meta', error: 'error' },
  meta: { pagination: 'pagination' },
  pagination: { number: 'total count per_page current_page total_pages' },
  error: { label: 'code', text: 'message details devMessage source' },
  call: {
    id: 'sessionId mid initiator receiver',
    label: 'type mode status receiverType',
    number: `${MINUTES} totalParticipants hasRecording hasTranscription`,
    time: 'initiatedAt startedAt endedAt',
    participant: 'participants',
    recording: 'recordings',
    entities: 'data',
    text: 'transcriptions tags metaData',
  },
  participant: {
    id: 'uid deviceId mid',
    label: 'state',
    number: `${MINUTES} isJoined`,
    time: 'joinedAt leftAt',
    text: 'name avatar',
  },
  recording: { id: 'rid recording_url', number: 'duration', time: 'startTime endTime' },
  entities: { entities: 'entities initiator receiver entity' },
}

/** The kind of a field of such an object; undefined if the field is neither documented nor seen before. */
export function kindOf(form: string, field: string): string | undefined {
  return Object.entries(FORMS[form] ?? {}).find(([, names]) => names.split(' ').includes(field))?.[0]
}
