import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { configSchema, type Config } from '../config/config.ts'
import type { Problem } from '../config/config-error.ts'
import { readAddress } from '../store/postgres/address.ts'
import { onlyStoreErrors } from '../store/store-error.ts'

/** Settings that a running daemon cannot change, by their path in the file. */
const FIXED: readonly (readonly [path: string, of: (config: Config) => unknown])[] = [
  ['store.path', ({ store }) => ('path' in store ? store.path : undefined)],
  ['store.url', databaseOf],
  ['store.lease', ({ store }) => ('url' in store ? store.lease : undefined)],
  ['http.host', ({ http }) => http.host],
  ['http.port', ({ http }) => http.port],
  ['http.hooks', ({ http }) => http.hooks],
  // User, password and certificate may change, but not whether they are set.
  ['http.auth', ({ http }) => http.auth !== undefined],
  ['http.tls', ({ http }) => http.tls !== undefined],
]

/** User, password and TLS may change, but not which database it is. */
function databaseOf({ store }: Config): unknown {
  if (!('url' in store)) return undefined
  try {
    const { hosts, database } = readAddress(store.url)
    return { hosts, database }
  } catch (error) {
    return onlyStoreErrors(store.url)(error)
  }
}

/** The settings of a valid configuration that cannot replace the current ones while the daemon runs. */
export function needsRestart(current: Config, next: Config): Problem[] {
  return FIXED.filter(([, of]) => !isDeepStrictEqual(of(current), of(next))).map(([path]) => ({
    path,
    message: 'not the one with which the daemon was started; a change of it needs a restart',
  }))
}

/** A configuration with the current one's settings instead of those that need a restart. */
export function withoutRestart(current: Config, next: Config): Config {
  const { auth, tls, hooks: _hooks, ...http } = next.http
  const { host, port, hooks } = current.http
  const isSameDatabase = 'url' in next.store && isDeepStrictEqual(databaseOf(current), databaseOf(next))
  const keptAuth = current.http.auth && (auth ?? current.http.auth)
  const keptTls = current.http.tls && (tls ?? current.http.tls)
  return {
    ...next,
    store: {
      ...current.store,
      ...(isSameDatabase && 'url' in next.store && { url: next.store.url }),
      history: next.store.history,
    },
    http: {
      ...http,
      host,
      port,
      ...(hooks && { hooks }),
      ...(keptAuth && { auth: keptAuth }),
      ...(keptTls && { tls: keptTls }),
    },
  }
}

/** What no longer fits together in a configuration that keeps some of its settings. */
export function misfits(config: Config): Problem[] {
  const { error } = z.safeEncode(configSchema, config)
  return (error?.issues ?? []).map(({ path, message }) => ({ path: path.join('.'), message }))
}
