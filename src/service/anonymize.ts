import { randomInt } from 'node:crypto'
import { readHttpDate } from '../clock/times.ts'
import { isMap } from '../schema/path.ts'
import { header } from './answer-headers.ts'
import { kindOf } from './answer-fields.ts'
import { callPath, UNKNOWN_ID } from './calls-client.ts'
import { isEnvelope, type Exchange } from './exchange.ts'
import { standIns } from './stand-ins.ts'

/** The words of documented labels and error codes. */
const WORDS =
  'audio video call meet presenter user users group groups initiated ongoing ended unanswered rejected canceled cancelled busy missed auth err empty apikey not found no access invalid appid session uid too many requests subscription expired plan restriction quota'
const isWord = (text: string) => WORDS.split(' ').includes(text.trim().toLowerCase())
/** A number, flag or duration that stays in a text. More digits may be an id. */
const NUMBER = /^(?:\d{1,7}(?:\.\d+)?|\d{1,4}:\d\d:\d\d|true|false)$/
/** The headers that stay, and their values that do: encodings, types, and the numbers of a rate limit. */
const HEADERS = /^(?:date|age|retry-after|content-(?:type|encoding)|(?:x-)?rate-?limit(?:-limit|-remaining|-reset)?)$/
const VALUES =
  /^(?:(?:x-)?gzip|(?:application\/json|text\/(?:html|plain))(?:; ?charset=utf-8)?|\d{1,9}|(?:(?:limit|remaining|reset|[rtqw])=\d{1,6}[;,]? ?)+)$/i

/** Times are shifted back by one to nine years (seconds): callwatch ignores times in the future. */
const [LEAST_SHIFT, MOST_SHIFT] = [31_536_000, 283_824_000]
/** From the first on, a number is a time in seconds; from the second on in milliseconds; from the third on it is none. */
const [SECONDS, MILLISECONDS, NO_TIME] = [1e9, 1e11, 1e14]

/** How many ids, other texts, names of fields and numbers were replaced, and how many times were shifted. */
export type Replaced = Record<'ids' | 'texts' | 'keys' | 'numbers' | 'times', number>

/**
 * The exchanges without what could identify somebody. Only documented names of fields, words and numbers stay. Stand-ins
 * replace all else, the same one for the same text, and all times are shifted by the same number of seconds.
 */
export function anonymize(exchanges: readonly Exchange[]): { answers: Exchange[]; replaced: Replaced } {
  const texts = new Set<string>()
  const shift = -randomInt(LEAST_SHIFT, MOST_SHIFT)
  rewrite(exchanges, shift, (text) => (texts.add(text), text))
  return rewrite(exchanges, shift, standIns(texts))
}

function rewrite(exchanges: readonly Exchange[], shift: number, standIn: (text: string) => string) {
  const replaced: Replaced = { ids: 0, texts: 0, keys: 0, numbers: 0, times: 0 }
  const replace = (kind: keyof Replaced, text: string) => {
    replaced[kind] += 1
    return standIn(text)
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
    if (kind === 'number' && NUMBER.test(value)) return value
    if (kind === 'label' && value.split('_').every(isWord)) return value
    if (kind === 'time' && /^\d+(?:\.\d+)?$/.test(value)) return String(ofNumber(Number(value), kind))
    return replace(kind === 'id' ? 'ids' : 'texts', value)
  }
  const ofMap = (value: object, form: string): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const kind = kindOf(form, key)
        return [kind === undefined ? replace('keys', key) : key, ofValue(item, kind ?? 'text')]
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
