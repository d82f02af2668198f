import { A_DATABASE, isStoreUrl } from '../store/store-section.ts'
import { type Environment, interpolate } from './reading/interpolate.ts'

/**
 * Reads a store's address from the command line: a value for `store.path` or `store.url`, in which `${NAME}` is replaced from
 * the environment.
 *
 * @returns the address, or what is wrong with it, without anything that may be secret
 */
export function readStoreAddress(
  given: string,
  env: Environment,
): { address: { path: string } | { url: string } } | { problem: string } {
  const {
    text: address,
    problems: [problem],
  } = interpolate(given, env)
  if (problem !== undefined) return { problem }
  if (address === '') return { problem: 'found an empty text; expected the name of a file, or the URL of a database' }
  if (!/^\w+:\/\//.test(address)) return { address: { path: address } }
  if (isStoreUrl(address)) return { address: { url: address } }
  return { problem: `found a URL (hidden, it may have a password); expected ${A_DATABASE}` }
}
