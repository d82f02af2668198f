import type { Environment } from './reading/environment.ts'
import { interpolate } from './reading/interpolate.ts'
import { A_DATABASE, isStoreUrl } from '../store/store-section.ts'

/**
 * A store as the command line names it: what could be in `store.path` or `store.url`, with `${NAME}` replaced from the
 * environment.
 *
 * @returns where it is; or what is wrong, without anything that may be secret in it
 */
export function readStoreAddress(
  text: string,
  env: Environment,
): { address: { path: string } | { url: string } } | { problem: string } {
  const { draft } = interpolate(text, env)
  const [problem] = draft.problems
  if (problem !== undefined) return { problem: problem.message }
  const address = String(draft.tree)
  if (address === '') return { problem: 'found an empty text; expected the name of a file, or the URL of a database' }
  if (!/^\w+:\/\//.test(address)) return { address: { path: address } }
  if (isStoreUrl(address)) return { address: { url: address } }
  return { problem: `found a URL (hidden, it may have a password); expected ${A_DATABASE}` }
}
