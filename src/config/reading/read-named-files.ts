import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { addProblem, addValue, nameOf, type Draft } from './draft.ts'
import { fileProblem, type ReadText } from './read-text.ts'
import { formatPath, valueAt, withValue, type Path } from '../../schema/path.ts'
import { secretPlaces } from '../secrets.ts'
import type { Certificate } from '../../web/http-section.ts'

/**
 * Puts the content of each secret's file (`api_key_file`) in the place of the secret (`api_key`), without white space at its
 * ends. It is a problem if the file cannot be used, or if a secret is given both ways.
 *
 * @param folders at which relative names start: names in the file at the file's folder, names in a variable at `cwd`
 */
export function readSecretFiles(draft: Draft, folders: Folders): void {
  for (const { place } of secretPlaces(draft.tree)) readSecretFile(draft, place, folders)
}

type Folders = { file: string; cwd: string; readText: ReadText }

function readSecretFile(draft: Draft, secret: Path, folders: Folders): void {
  const place = [...secret.slice(0, -1), `${String(secret.at(-1))}_file`]
  const name = valueAt(draft.tree, place)
  if (name === undefined) return
  if (valueAt(draft.tree, secret) !== undefined) {
    const own = draft.origins.get(formatPath(secret)) ?? String(secret.at(-1))
    return addProblem(draft, place, `not accepted together with \`${own}\`; expected one of them`)
  }
  if (typeof name !== 'string' || name === '' || draft.reported.has(formatPath(place))) return

  const folder = draft.origins.has(formatPath(place)) ? folders.cwd : folders.file
  const content = read(resolve(folder, name), folders.readText)
  if ('problem' in content) {
    const file = mayShow(draft, place, name) ? `the file \`${name}\`` : 'the file named there'
    return addProblem(draft, place, `${file} ${content.problem}; expected a file that holds the secret`)
  }
  const origin = nameOf(draft, place)
  draft.tree = withValue(draft.tree, place, undefined)
  addValue(draft, secret, content.secret, origin)
}

function read(file: string, readText: ReadText): { secret: string } | { problem: string } {
  try {
    const secret = readText(file).trim()
    return secret === '' ? { problem: 'is empty' } : { secret }
  } catch (error) {
    return { problem: fileProblem(error) }
  }
}

/** Users may put the secret itself where its file's name belongs, so only what looks like a file name is shown. */
function mayShow(draft: Draft, place: Path, name: string): boolean {
  return /[./\\]/.test(name) && !name.includes('://') && !draft.templates.has(formatPath(place))
}

type From = { folder: string; readText: ReadText }

const CERT: Path = ['http', 'tls', 'cert_file']
const KEY: Path = ['http', 'tls', 'key_file']

/**
 * Reads the certificate and its key. It is a problem if a file cannot be read, has no certificate or key, or if the two do
 * not match. The content of the key's file is never shown.
 *
 * @param from.folder where relative names start: the file's own
 * @returns undefined if the file has no `http.tls`, or one that cannot be used
 */
export function readTlsFiles(draft: Draft, from: From): Certificate | undefined {
  const cert = readPem(draft, CERT, from, 'a certificate')
  const key = readPem(draft, KEY, from, 'the key of the certificate')
  if (cert === undefined || key === undefined) return undefined
  try {
    createSecureContext({ cert, key })
    return { cert, key }
  } catch (error) {
    addProblem(draft, ...unusable({ cert, key }, error))
    return undefined
  }
}

function readPem(draft: Draft, place: Path, { folder, readText }: From, what: string): string | undefined {
  const name = valueAt(draft.tree, place)
  // The schema reports any other problem.
  if (typeof name !== 'string' || name === '' || draft.reported.has(formatPath(place))) return undefined
  try {
    return readText(resolve(folder, name))
  } catch (error) {
    const file = draft.templates.has(formatPath(place)) ? 'the file named there' : `the file \`${name}\``
    addProblem(draft, place, `${file} ${fileProblem(error)}; expected a file that holds ${what} (PEM)`)
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
