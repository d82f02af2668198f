import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { addProblem, addValue, nameOf, templateAt, type Draft } from './draft.ts'
import type { ReadText } from './read-text.ts'
import { formatPath, valueAt, withValue, type Path } from '../../schema/path.ts'
import { secretPlaces } from '../secrets.ts'
import type { Certificate } from '../../web/http-section.ts'

/** Names in the file start at the file's folder, names in a variable at `cwd`. */
type Options = { cwd: string; readText: ReadText }

/**
 * Puts the content of each secret's file (`api_key_file`) in the place of the secret (`api_key`), without white space at its
 * ends. It is a problem if the file cannot be used, or if a secret is given both ways.
 */
export function readSecretFiles(draft: Draft, options: Options): void {
  for (const { place } of secretPlaces(draft.tree)) readSecretFile(draft, place, options)
}

function readSecretFile(draft: Draft, secret: Path, options: Options): void {
  const place = [...secret.slice(0, -1), `${String(secret.at(-1))}_file`]
  if (valueAt(draft.tree, place) === undefined) return
  if (valueAt(draft.tree, secret) !== undefined) {
    const origin = draft.origins.get(formatPath(secret))
    const own = typeof origin === 'string' ? origin : String(secret.at(-1))
    return addProblem(draft, place, `not accepted together with \`${own}\`; expected one of them`)
  }
  const content = readNamed(draft, place, options, 'the secret')
  if (content === undefined) return
  const origin = draft.origins.get(formatPath(place)) ?? place
  draft.tree = withValue(draft.tree, place, undefined)
  addValue(draft, secret, content.trim(), origin)
}

/**
 * The content of the file that is named at a place. It is a problem if it cannot be read, or is empty.
 *
 * @param what the file is expected to hold
 * @returns undefined if there is no name, or it cannot be used
 */
function readNamed(draft: Draft, place: Path, { cwd, readText }: Options, what: string): string | undefined {
  const name = valueAt(draft.tree, place)
  const own = nameOf(draft, place)
  // The schema reports any other problem.
  if (typeof name !== 'string' || name === '' || draft.problems.some(({ path }) => path === own)) return undefined
  draft.brought.add(own)
  const reading = readText(resolve(draft.origins.has(formatPath(place)) ? cwd : draft.file.folder, name))
  if ('text' in reading && reading.text.trim() !== '') return reading.text
  const shown = mayShow(draft, place, name) ? `the file \`${name}\`` : 'the file named there'
  const problem = 'text' in reading ? 'is empty' : reading.problem
  addProblem(draft, place, `${shown} ${problem}; expected a file that holds ${what}`)
  return undefined
}

/** Users may put the secret itself where its file's name belongs, so only what begins as a path or ends as a file name is shown. */
function mayShow(draft: Draft, place: Path, name: string): boolean {
  return (
    /^(?:\.{0,2}\/|~\/|[A-Za-z]:\\)|^[\w./ -]*\.(?:txt|pem|key|crt|cert|secret|token|ya?ml)$/i.test(name) &&
    !/:\/\/|\n/.test(name) &&
    templateAt(draft, place) === undefined
  )
}

const CERT: Path = ['http', 'tls', 'cert_file']
const KEY: Path = ['http', 'tls', 'key_file']

/**
 * Reads the certificate and its key. It is a problem if a file cannot be read, has no certificate or key, or if the two do
 * not match. The content of the key's file is never shown.
 *
 * @returns undefined if the file has no `http.tls`, or one that cannot be used
 */
export function readTlsFiles(draft: Draft, options: Options): Certificate | undefined {
  const cert = readNamed(draft, CERT, options, 'a certificate (PEM)')
  const key = readNamed(draft, KEY, options, 'the key of the certificate (PEM)')
  if (cert === undefined || key === undefined) return undefined
  try {
    createSecureContext({ cert, key })
    return { cert, key }
  } catch (error) {
    addProblem(draft, ...unusable({ cert, key }, error))
    return undefined
  }
}

/** The place of the problem, if certificate or key can be checked alone. */
function unusable({ cert, key }: Certificate, error: unknown): [place: Path, message: string] {
  if (!isUsable({ cert }))
    return [CERT, 'found no certificate in the file; expected one in PEM, with its intermediate certificates']
  if (!isUsable({ key })) {
    return [
      KEY,
      'found no usable private key in the file; expected the key of the certificate in PEM, without a passphrase',
    ]
  }
  const isOther = error instanceof Error && /mismatch/i.test(error.message)
  const what = isOther ? 'is the key of another certificate' : 'cannot be used with this certificate'
  return [KEY, `the key in the file ${what}; expected the one of \`http.tls.cert_file\``]
}

function isUsable(part: Partial<Certificate>): boolean {
  try {
    createSecureContext(part)
    return true
  } catch {
    return false
  }
}
