import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { withProblem, type Draft } from './draft.ts'
import { fileProblem } from './file-problem.ts'
import { formatPath, valueAt, type Path } from '../../schema/path.ts'
import type { ReadText } from './read-text.ts'
import type { Certificate } from '../../web/http-section.ts'

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
export function readTlsFiles(draft: Draft, from: From): { draft: Draft; tls: Certificate | undefined } {
  const cert = readPem(draft, CERT, from, 'a certificate')
  const key = readPem(cert.draft, KEY, from, 'the key of the certificate')
  if (cert.pem === undefined || key.pem === undefined) return { draft: key.draft, tls: undefined }
  const tls = { cert: cert.pem, key: key.pem }
  try {
    createSecureContext(tls)
  } catch (error) {
    return { draft: withProblem(key.draft, ...unusable(tls, error)), tls: undefined }
  }
  return { draft: key.draft, tls }
}

function readPem(draft: Draft, place: Path, { folder, readText }: From, what: string): { draft: Draft; pem?: string } {
  const name = valueAt(draft.tree, place)
  // The schema reports any other problem.
  if (typeof name !== 'string' || name === '' || draft.reported.includes(formatPath(place))) return { draft }
  try {
    return { draft, pem: readText(resolve(folder, name)) }
  } catch (error) {
    const file = draft.templates.has(formatPath(place)) ? 'the file named there' : `the file \`${name}\``
    return {
      draft: withProblem(draft, place, `${file} ${fileProblem(error)}; expected a file that holds ${what} (PEM)`),
    }
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
