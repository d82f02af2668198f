import { randomInt } from 'node:crypto'
import { readHttpDate } from '../clock/times.ts'
import { isMap, mapsIn } from '../schema/path.ts'
import { header } from '../service/answer-headers.ts'
import { kindOf } from '../service/answer-fields.ts'
import { callPath, rowsOf, UNKNOWN_ID } from '../service/calls-client.ts'
import { isEnvelope, type Exchange } from '../service/exchange.ts'
import { standIns } from './stand-ins.ts'

/** The words of documented labels and error codes. */
const WORDS =
  'audio video call meet presenter user users group groups initiated ongoing ended unanswered rejected canceled cancelled busy missed auth err empty apikey not found no access invalid appid session uid too many requests subscription expired plan restriction quota'
const isWord = (text: string) => WORDS.split(' ').includes(text.trim().toLowerCase())
/** A number, flag or duration that stays in a text. More digits may be an id. */
const NUMBER = /^(?:\d{1,7}(?:\.\d+)?|\d{1,4}:\d\d:\d\d|true|false)$/
/** The headers that stay, and their values that do: encodings, types, and the numbers of a rate limit. */
const HEADERS =
  /^(?:date|age|retry-after|content-(?:type|encoding)|(?:x-)?rate-?limit(?:-limit|-remaining|-reset|-policy)?)$/
const VALUES =
  /^(?:(?:x-)?gzip|(?:application\/json|text\/(?:html|plain))(?:; ?charset=utf-8)?|\d{1,9}|(?:(?:limit|remaining|reset|[rtqw])=\d{1,6}[;,]? ?)+)$/i

/** Times are shifted back by one to nine years (seconds): callwatch ignores times in the future. */
const [LEAST_SHIFT, MOST_SHIFT] = [31_536_000, 283_824_000]
/** From the first on, a number is a time in seconds; from the second on in milliseconds; from the third on it is none. */
const [SECONDS, MILLISECONDS, NO_TIME] = [1e9, 1e11, 1e14]

/** How many ids, other texts, names of fields and numbers were replaced, and how many times were shifted. */
export type Replaced = Record<'ids' | 'texts' | 'keys' | 'numbers' | 'times', number>

/**
 * The exchanges without what could identify somebody. Only names of fields, documented words and numbers stay. Stand-ins
 * replace all else, the same one for the same text, and all times are shifted by the same number of seconds.
 */
export function anonymize(exchanges: readonly Exchange[]): { answers: Exchange[]; replaced: Replaced } {
  const [texts, values] = [new Set<string>(), new Set<string>()]
  const shift = -randomInt(LEAST_SHIFT, MOST_SHIFT)
  const noted = (text: string, kind: Kind) => {
    texts.add(text)
    if (kind !== 'fields') values.add(text)
    return text
  }
  rewrite(exchanges, { shift, names: new Set(), standIn: noted })
  return rewrite(exchanges, { shift, names: namesOfFields(exchanges, values), standIn: standIns(texts) })
}

/** What a name of a field looks like. */
const NAME = /^[a-z][a-z_]{1,31}$/i
const wordsOf = (text: string) => text.match(/\p{Lu}?\p{Ll}+|\p{L}+/gu)?.map((word) => word.toLowerCase()) ?? []

/**
 * The undocumented names of fields that stay, with the form of their object, such as `call.endReason`. A key may as well be the id or the
 * name of a person. So a name stays only
 *
 * - in a call, in an entry of its participants or in one of its recordings, which have documented fields as well. Below any other field, an
 *   app may write what it wants.
 * - if several calls have it: the schema of the service is the same for all.
 * - if it looks like a name of a field, and neither it nor one of its words is a value of these answers, or a key of any other object, as an
 *   id of a user would be.
 */
function namesOfFields(exchanges: readonly Exchange[], values: ReadonlySet<string>): ReadonlySet<string> {
  const letters = (text: string) => wordsOf(text).join('')
  const words = new Set([...values].flatMap((value) => [letters(value), ...wordsOf(value)]))
  const isName = (key: string) =>
    NAME.test(key) && ![key.toLowerCase(), letters(key), ...wordsOf(key)].some((word) => words.has(word))
  const sessions = new Map<string, Set<unknown>>()
  const add = (form: string, object: object, session: unknown) => {
    const keys = Object.keys(object)
    if (keys.every((key) => kindOf(form, key) === undefined)) return
    for (const name of keys.filter(isName).map((key) => `${form}.${key}`))
      sessions.set(name, (sessions.get(name) ?? new Set()).add(session))
  }
  for (const row of exchanges.flatMap(({ body }) => rowsOf(body)).filter(isMap)) {
    const { sessionId, participants, recordings } = row
    if (sessionId === undefined) continue
    add('call', row, sessionId)
    for (const entry of mapsIn(participants)) add('participant', entry, sessionId)
    for (const entry of mapsIn(recordings)) add('recording', entry, sessionId)
  }
  return new Set([...sessions].flatMap(([name, { size }]) => (size > 1 ? name : [])))
}

/** The forms whose undocumented keys may be names of fields. */
const FIELDS_OF = new Set(['call', 'participant', 'recording'])

/** What is replaced; `fields` are keys that may be names of fields. */
type Kind = keyof Replaced | 'fields'
type Rewriting = { shift: number; names: ReadonlySet<string>; standIn: (text: string, kind: Kind) => string }

function rewrite(exchanges: readonly Exchange[], { shift, names, standIn }: Rewriting) {
  const replaced: Replaced = { ids: 0, texts: 0, keys: 0, numbers: 0, times: 0 }
  const replace = (counted: keyof Replaced, text: string, kind: Kind = counted) => {
    replaced[counted] += 1
    return standIn(text, kind)
  }
  const ofNumber = (value: number, kind: string): number => {
    const size = Math.abs(value)
    if (kind === 'number' || (kind === 'time' && size < SECONDS)) return value
    if (kind !== 'time' || size >= NO_TIME)
      return Number(String(value).replace(/[\d.]+/, (digits) => replace('numbers', digits)))
    replaced.times += 1
    return Math.round((value + shift * (size < MILLISECONDS ? 1 : 1000)) * 1000) / 1000
  }
  const ofText = (value: string, kind: string): string => {
    if ((kind === 'number' || kind === 'time') && NUMBER.test(value)) return value
    if (kind === 'label' && value.split('_').every(isWord)) return value
    if (kind === 'time' && /^[1-9]\d*(?:\.\d+)?$/.test(value)) return String(ofNumber(Number(value), kind))
    // The beginning of the ids that the service makes.
    if (kind === 'id' && value.startsWith('v1.')) return `v1.${replace('ids', value.slice(3))}`
    return replace(kind === 'id' ? 'ids' : 'texts', value)
  }
  const ofMap = (value: object, form: string): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const kind = kindOf(form, key)
        const isName = kind !== undefined || names.has(`${form}.${key}`)
        const shown = isName ? key : replace('keys', key, FIELDS_OF.has(form) ? 'fields' : 'keys')
        return [shown, ofValue(item, kind ?? 'text')]
      }),
    )
  const ofValue = (value: unknown, kind: string): unknown => {
    if (typeof value === 'string') return ofText(value, kind)
    if (typeof value === 'number') return ofNumber(value, kind)
    if (Array.isArray(value)) return value.map((item) => ofValue(item, kind))
    return isMap(value) ? ofMap(value, kind) : value
  }
  const ofHeader = (name: string, value = ''): [string, string][] => {
    const date = readHttpDate(value)
    if (!HEADERS.test(name)) return []
    if (date !== undefined) return [[name, new Date(ofNumber(date, 'time') * 1000).toUTCString()]]
    if (/^\d{10,13}$/.test(value)) return [[name, String(ofNumber(Number(value), 'time'))]]
    return VALUES.test(value) ? [[name, value]] : []
  }
  const ofPath = (path: string): string => {
    const [place = '', query] = path.split('?')
    // The parameters of the configuration are left out, so that a replay answers another configuration.
    if (query !== undefined) return `${place}?${/page=\d+&perPage=\d+$/.exec(query)![0]}`
    const id = place.slice('/calls/'.length)
    return id === UNKNOWN_ID ? path : callPath(ofText(decodeURIComponent(id), 'id'))
  }
  const answers = exchanges.map((exchange) => {
    const { path, status, body } = exchange
    const headers = Object.keys(exchange.headers).flatMap((name) => ofHeader(name, header(exchange, name)))
    const form = isEnvelope(body) ? 'envelope' : 'call'
    return { path: ofPath(path), status, headers: Object.fromEntries(headers), body: ofValue(body, form) }
  })
  return { answers, replaced }
}
