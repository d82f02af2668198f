import { parseMap } from '../schema/path.ts'

/** Texts that refuse: of healthchecks.io (`OK (not found)`), and of a connector of Teams, which says so in a sentence. */
const TEXTS = [/^OK \(([a-z ]+)\)$/i, /^(Webhook message delivery failed)\b/]

/** A reason that may be shown. Any other text may be a proxy's page, which quotes the secret address. */
const WORDS = /^[a-z][a-z_ .,']{0,99}$/i

/**
 * Why the body of a 2xx refuses what was sent, in words that may be shown, perhaps none; undefined if it does not refuse it.
 * JSON refuses with `ok` or `success` false, a `status` or `result` of error or failure, an `errcode` but 0, or an `error` or `errors`.
 */
export function refusalIn(body: string): string | undefined {
  const answer = parseMap(body)
  if (answer === undefined) return TEXTS.flatMap((text) => text.exec(body.trim())?.[1] ?? [])[0]
  const { ok, success, status, result, errcode, error, errors } = answer
  const succeeds = [ok, success].includes(true)
  const refuses =
    [ok, success].includes(false) ||
    [status, result].some((word) => typeof word === 'string' && /^(?:error|fail(?:ed|ure)?)$/i.test(word)) ||
    (typeof errcode === 'number' && errcode !== 0) ||
    [error, errors].some(isGiven)
  return refuses && !succeeds ? (reasonIn(body) ?? '') : undefined
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

/** The reason in a refusal, if it is only words: a text, or in JSON the `error` or a message. */
export function reasonIn(body: string): string | undefined {
  const answer = parseMap(body)
  const { error, errmsg, msg, message } = answer ?? {}
  const said = answer === undefined ? [body] : [error, errmsg, msg, message]
  return said.find((text): text is string => typeof text === 'string' && WORDS.test(text))
}
