import { z } from 'zod'
import { duration } from '../schema/duration.ts'
import { text } from '../schema/scalars.ts'
import { secret } from '../schema/secret.ts'
import { completed, section } from '../schema/section.ts'
import { variables } from '../schema/variables.ts'
import type { DaemonStoreAddress } from './open-store.ts'
import { ADDRESS_FORM } from './postgres/address.ts'

/** The default if neither a file nor a database is configured. */
const DEFAULT_STORE_PATH = 'data/callwatch.db'
/** Seconds. */
export const DEFAULT_LEASE_SECONDS = 10

/** The expected form of an address. */
export const A_DATABASE =
  'the URL of a PostgreSQL database such as `postgres://callwatch:PASSWORD@db1,db2/callwatch`, ' +
  'with what is neither letter nor digit in user and password percent-encoded'

const storeKeys = section(
  {
    path: text('the name of a file, or `:memory:`')
      .optional()
      .describe('File of the embedded store; ":memory:" keeps nothing')
      .meta({ default: DEFAULT_STORE_PATH })
      // The container image always sets this variable, so a configured database takes precedence.
      .register(variables, { name: 'CALLWATCH_STORE_PATH', unless: ['url', 'url_file'] }),
    path_on_network: z
      .boolean()
      .optional()
      .describe('Accepts a path on a network file system, if no other machine ever uses the file'),
    url: secret(text(A_DATABASE, isStoreUrl).meta({ pattern: ADDRESS_FORM.source }), {
      of: 'the URL',
      about: 'Instead of path: a PostgreSQL database that several daemons share',
      partly: { masked: maskStoreUrl, secretsIn: passwordsIn },
      variable: 'CALLWATCH_STORE_URL',
    }).optional(),
    lease: duration({ min: 1, max: 3600 })
      .optional()
      .describe(
        `With url: how long a daemon keeps its targets without contact to the database; default: ${DEFAULT_LEASE_SECONDS}s`,
      ),
    history: duration().prefault('63d').describe('How long finished calls are kept'),
  },
  ({ path, path_on_network: onNetwork, url, url_file: urlFile, lease }, report) => {
    const isShared = url !== undefined || urlFile !== undefined
    if (isShared && path !== undefined) {
      const place = url === undefined ? 'url_file' : 'url'
      report([place], 'not accepted together with `store.path`; expected one of them: a database, or a file')
    }
    if (isShared && onNetwork !== undefined)
      report(['path_on_network'], 'not accepted together with `store.url`: it is about the file of `store.path`')
    if (!isShared && lease !== undefined) {
      report(['lease'], 'not accepted without `store.url`: no other daemon can take over what is kept in a file')
    }
  },
)

/** The section `store`: a path for the embedded store, or the address of the store that several daemons share. */
export const storeSection = completed(
  storeKeys,
  ({
    path = DEFAULT_STORE_PATH,
    pathOnNetwork,
    url,
    lease = DEFAULT_LEASE_SECONDS,
    history,
  }): { history: number } & DaemonStoreAddress =>
    url === undefined
      ? { path, ...(pathOnNetwork !== undefined && { pathOnNetwork }), history }
      : { url, lease, history },
)

/**
 * Whether a text is the URL of a PostgreSQL database for `store.url`. It can have a user, several hosts and parameters. The database
 * is required, and a password is allowed only before the hosts.
 */
export function isStoreUrl(text: string): boolean {
  const { user = '', password = '', database = '', query = '' } = ADDRESS_FORM.exec(text)?.groups ?? {}
  const names = [...new URLSearchParams(query).keys()]
  return (
    database !== '' && [user, password, database].every(isDecodable) && !names.some((name) => /password/i.test(name))
  )
}

/** The passwords in such an address, percent-encoded and decoded. */
function passwordsIn(url: string): string[] {
  const { password = '' } = ADDRESS_FORM.exec(url)?.groups ?? {}
  return password === '' ? [] : [...new Set([password, decodeURIComponent(password)])]
}

/** Such an address without its password, to show it: the user, the hosts and the database. */
function maskStoreUrl(url: string, mask: string): string {
  return url.replace(/^(\w+:\/\/[^\s:@/?#]+):[^\s@/?#]*@/, `$1:${mask}@`)
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
