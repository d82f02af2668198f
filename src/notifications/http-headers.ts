import { z } from 'zod'
import { isMap } from '../schema/path.ts'
import { headerValue } from '../schema/scalars.ts'
import { secret } from '../schema/secret.ts'

/** Headers that callwatch sets itself. With another value, the receiver would refuse or misread the request. */
const own = [
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'transfer-encoding',
  'upgrade',
]

/** Request headers, value by name; default: none. The values are secrets. */
export function httpHeaders() {
  const of = 'the value of a header'
  const value = secret(headerValue(of), { of, about: 'Sent with each request' })
  return z.record(z.string(), value).superRefine(refuseNames, { when: () => true })
}

function refuseNames(headers: unknown, context: z.RefinementCtx) {
  if (!isMap(headers)) return
  const names = Object.keys(headers)
  names.forEach((name, index) => {
    const problem = problemWith(name, names.slice(0, index))
    if (problem === undefined) return
    context.addIssue({ code: 'custom', path: [name], message: problem, params: { sentence: true } })
  })
}

function problemWith(name: string, before: readonly string[]): string | undefined {
  // RFC 9110, section 5.6.2
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return 'no header can have this name; expected letters, digits and hyphens'
  const same = before.find((other) => other.toLowerCase() === name.toLowerCase())
  if (same !== undefined) return `the same header as \`${same}\`; expected each only once`
  if (own.includes(name.toLowerCase())) return 'callwatch sets this header itself; expected another one'
  return undefined
}
