import { duration } from './duration.ts'
import { aSecret, fileName, text } from './scalars.ts'
import { section } from './section.ts'
import { isStoreUrl, STORE_URL_PATTERN } from './store-url.ts'

/** What holds where neither a file nor a database is named. */
export const DEFAULT_STORE_PATH = 'data/callwatch.db'
/** Seconds. */
export const DEFAULT_LEASE = 10

/** What is expected of an address. */
export const A_DATABASE =
  'the address of a PostgreSQL database such as `postgres://callwatch:PASSWORD@db1,db2/callwatch`, ' +
  'with what is neither letter nor digit in user and password percent-encoded'

/** The section `store`. */
export const storeSchema = section(
  {
    // These two have their defaults in resolve.ts: which of them holds depends on `url`.
    path: text('the name of a file, or `:memory:`')
      .optional()
      .describe('File of the embedded store; ":memory:" keeps nothing')
      .meta({ default: DEFAULT_STORE_PATH }),
    url: text(A_DATABASE, isStoreUrl)
      .optional()
      .describe('In place of path: a PostgreSQL database that several daemons share; a secret')
      .meta({ ...aSecret('CALLWATCH_STORE_URL'), pattern: STORE_URL_PATTERN }),
    url_file: fileName().optional().describe('File that holds the address, in place of url'),
    lease: duration({ min: 1, max: 3600 })
      .optional()
      .describe(
        `With url: within this time the targets of a dead daemon move to the others; default: ${DEFAULT_LEASE}s`,
      ),
    history: duration().prefault('35d').describe('How long finished calls are kept'),
  },
  ({ path, url, url_file: urlFile, lease }, report) => {
    const isShared = url !== undefined || urlFile !== undefined
    if (isShared && path !== undefined) {
      const place = url === undefined ? 'url_file' : 'url'
      report([place], 'not accepted beside `store.path`; expected one of them: a database, or a file')
    }
    if (!isShared && lease !== undefined) {
      report(['lease'], 'not accepted without `store.url`: no other daemon can take over what is kept in a file')
    }
  },
)
