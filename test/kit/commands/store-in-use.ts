import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { configFile, emptyFolder } from './callwatch.ts'

/** A store that a daemon holds open until the test ends, and the configuration of it with these targets, whose services do not answer. */
export function storeInUse(targets: readonly string[] = ['production'], more = '') {
  const path = join(emptyFolder(), 'callwatch.db')
  const store = openSqliteStore({ path })
  onTestFinished(() => store.close())
  const named = targets.map((name, i) => `{ name: "${name}", base_url: 'http://127.0.0.1:${i + 1}/v3', api_key: key }`)
  const config = configFile(`targets: [${named.join(', ')}]\nstore: { path: ${path} }\n${more}`)
  return { path, store, config }
}
