import { isDeepStrictEqual } from 'node:util'
import type { Config } from './config.ts'
import type { Problem } from './config-error.ts'

/** Settings that a running daemon cannot change, by their path in the file. */
const FIXED: readonly (readonly [path: string, of: (config: Config) => unknown])[] = [
  ['store.path', ({ store }) => ('path' in store ? store.path : undefined)],
  ['store.url', ({ store }) => ('url' in store ? store.url : undefined)],
  ['store.lease', ({ store }) => ('url' in store ? store.lease : undefined)],
  ['http.host', ({ http }) => http.host],
  ['http.port', ({ http }) => http.port],
  ['http.hooks', ({ http }) => http.hooks],
  // User, password and certificate may change, but not whether they are set.
  ['http.auth', ({ http }) => http.auth !== undefined],
  ['http.tls', ({ http }) => http.tls !== undefined],
]

/** Why a valid configuration cannot replace the current one while the daemon runs. */
export function needsRestart(current: Config, next: Config): Problem[] {
  return FIXED.filter(([, of]) => !isDeepStrictEqual(of(current), of(next))).map(([path]) => ({
    path,
    message: 'not the one with which the daemon was started; a change of it needs a restart',
  }))
}
