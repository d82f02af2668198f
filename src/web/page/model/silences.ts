import { MATCH_KEYS } from '../../../alerts/match-keys.ts'
import { DURATION_FORM } from '../../../schema/duration-text.ts'
import { addressOf, replaceAddress } from './address.ts'
import { deleteSilence, getState, sendSilence, type Silence } from './api.ts'
import { labelText } from './format.ts'
import { parameterTime } from './period.ts'
import { change, current, load, messageOf, nowOf, serverTime, type Snapshot, type State } from './state.ts'

/** The match that the address names. */
export function matchOf(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries(MATCH_KEYS.map((key) => [key, query.get(key) ?? ''] as const).filter(([, value]) => value))
}

/** The number of the silence that the address names for editing; '' for a new one. */
export const editedIn = (query: URLSearchParams) => query.get('edit') ?? ''

/** How long the silence is to last: a duration, `until` a time, or '' for what it lasts anyway. */
export const lengthIn = (query: URLSearchParams) => query.get('for') ?? (editedIn(query) === '' ? '1h' : '')

/** The address at which a silence is edited. */
export function editAddress({ id, match, reason, edits }: Silence) {
  const all = Object.keys(match).length === 0 ? 'true' : ''
  return addressOf('silences', { ...match, all, reason, edit: `${id}`, edits: `${edits}` })
}

/**
 * The body that adds or edits the silence of the address.
 *
 * @param now milliseconds since 1970
 * @throws {RangeError} where it has no end in the future
 */
export function silenceRequest(query: URLSearchParams, now: number) {
  const match = matchOf(query)
  const every = Object.keys(match).length === 0 && query.get('all') === 'true'
  const length = lengthIn(query)
  const reason = query.get('reason') ?? ''
  const edits = editedIn(query) === '' ? {} : { edits: Number(query.get('edits') ?? 0) }
  const lasts = length === '' ? {} : { for: length === 'until' ? secondsUntil(query, now) : length }
  return { ...(every ? { all: true } : { match }), ...lasts, reason, ...edits }
}

/**
 * @param now milliseconds since 1970
 */
function secondsUntil(query: URLSearchParams, now: number) {
  const seconds = Math.ceil(((parameterTime(query, 'until', now) ?? NaN) - now) / 1000)
  if (!(seconds > 0)) throw new RangeError('The end is not in the future')
  return `${seconds}s`
}

/** The silences that are active, and those that expired of late, the newest first. */
export function silencesIn({ now = '', silences = [] }: Partial<Snapshot> = {}) {
  const isActive = ({ until }: Silence) => until > now
  const expired = silences.filter((silence) => !isActive(silence))
  return { active: silences.filter(isActive), expired: expired.toSorted((a, b) => (a.until < b.until ? 1 : -1)) }
}

/**
 * The command that adds the silence of the address, which has a match. The reader replaces words in capitals.
 *
 * @param needsConfig whether the command finds the configuration only by `--config`
 */
export function silenceCommand(query: URLSearchParams, needsConfig = false) {
  // A shell may expand all else, also `~` after `=`.
  const quote = (text: string) => (/^[\w.:=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`)
  const match = Object.entries(matchOf(query)).map(([key, value]) => labelText({ [key]: value }))
  const length = lengthIn(query)
  const options = [
    ...match.map((one) => `--match ${quote(one)}`),
    `--for ${DURATION_FORM.test(length) ? length : '1h'}`,
  ]
  const reason = `--reason ${quote(query.get('reason') || 'REASON')}`
  return ['callwatch silence add', ...(needsConfig ? ['--config FILE'] : []), ...options, reason].join(' ')
}

/** While the user types, nothing is requested. */
const PAUSE_MS = 500

/** Loads how many alerts the match of the address matches now. */
export function loadSilencing() {
  const request = new URLSearchParams(matchOf(current().query)).toString()
  setSilencing({ problem: undefined, done: '' })
  const ask = async (signal: AbortSignal) => {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    signal.throwIfAborted()
    const { alerts } = await getState(`${request}&alerts=firing`)
    return alerts.length
  }
  return load('matched', request, ask, 'Nothing matches')
}

const setSilencing = (changed: Partial<State['silencing']>) =>
  change({ silencing: { ...current().silencing, ...changed } })

/** Adds or edits the silence of the address. */
export async function saveSilence() {
  const { query } = current()
  const id = editedIn(query)
  await send(async () => {
    const silence = await sendSilence(id, silenceRequest(query, serverTime()))
    show(silence)
    return `Silence ${silence.id} was ${id === '' ? 'added' : 'edited'}.`
  }, true)
}

export async function expireSilence(id: number) {
  const expire = async () => {
    await deleteSilence(id)
    const silence = current().snapshot?.silences.find((each) => each.id === id)
    if (silence !== undefined) show({ ...silence, until: nowOf(current()) })
    return `Silence ${id} expired.`
  }
  await send(expire, editedIn(current().query) === `${id}`)
}

/** Shows a silence as it is now, before the stream brings it. */
function show(silence: Silence) {
  const { snapshot } = current()
  if (snapshot === undefined) return
  const others = snapshot.silences.filter(({ id }) => id !== silence.id)
  change({ snapshot: { ...snapshot, silences: [...others, silence].toSorted((a, b) => a.id - b.id) } })
}

/** Copies a text, and says that it did. */
export const copy = (text: string) =>
  send(() => navigator.clipboard.writeText(text).then(() => 'It was copied.'), false)

/**
 * One change at a time.
 *
 * @param work resolves with what was done
 * @param isOfForm whether the form has nothing more to say then
 */
async function send(work: () => Promise<string>, isOfForm: boolean) {
  if (current().silencing.isSending) return
  setSilencing({ isSending: true, problem: undefined, done: '' })
  try {
    const done = await work()
    if (isOfForm) replaceAddress(addressOf('silences'))
    setSilencing({ isSending: false, done })
  } catch (error) {
    setSilencing({ isSending: false, problem: `${messageOf(error)}.` })
  }
}
