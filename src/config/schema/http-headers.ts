import { z } from 'zod'
import { isMap } from '../path.ts'
import { headerValue } from './scalars.ts'

/** A request that sets one of these by itself is refused or misread, or says something else than it carries. */
const own = [
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]

/** Headers of a request, value by name. */
export function httpHeaders() {
  return z.record(z.string(), headerValue('the value of a header')).superRefine(refuseNames, { when: () => true })
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
  if (own.includes(name.toLowerCase())) return 'callwatch sets this header by itself; expected another one'
  return undefined
}
