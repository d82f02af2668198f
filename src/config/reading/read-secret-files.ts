import { resolve } from 'node:path'
import { nameOf, withOrigin, withProblem, type Draft } from './draft.ts'
import { fileProblem } from './file-problem.ts'
import { formatPath, valueAt, withValue, type Path } from '../../schema/path.ts'
import type { ReadText } from './read-text.ts'
import { secretPlaces } from '../secret-places.ts'

/**
 * Puts the content of each secret's file (`api_key_file`) in the place of the secret (`api_key`), without white space at its
 * ends. It is a problem if the file cannot be used, or if a secret is given both ways.
 *
 * @param folders at which relative names start: names in the file at the file's folder, names in a variable at `cwd`
 */
export function readSecretFiles(draft: Draft, folders: Folders): Draft {
  return secretPlaces(draft.tree).reduce((next, { place }) => readSecretFile(next, place, folders), draft)
}

type Folders = { file: string; cwd: string; readText: ReadText }

function readSecretFile(draft: Draft, secret: Path, folders: Folders): Draft {
  const place = [...secret.slice(0, -1), `${String(secret.at(-1))}_file`]
  const name = valueAt(draft.tree, place)
  if (name === undefined) return draft
  if (valueAt(draft.tree, secret) !== undefined) {
    const own = draft.origins.get(formatPath(secret)) ?? String(secret.at(-1))
    return withProblem(draft, place, `not accepted together with \`${own}\`; expected one of them`)
  }
  if (typeof name !== 'string' || name === '' || draft.reported.includes(formatPath(place))) return draft

  const folder = draft.origins.has(formatPath(place)) ? folders.cwd : folders.file
  const content = read(resolve(folder, name), folders.readText)
  if ('problem' in content) {
    const file = mayShow(draft, place, name) ? `the file \`${name}\`` : 'the file named there'
    return withProblem(draft, place, `${file} ${content.problem}; expected a file that holds the secret`)
  }
  const origin = nameOf(draft, place)
  const tree = withValue(withValue(draft.tree, place, undefined), secret, content.secret)
  return withOrigin({ ...draft, tree }, secret, origin)
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
