import { describe } from 'vitest'
import { openSqliteDaemonStore } from '../../../src/store/open-sqlite.ts'
import { storeContract } from '../contract/store-contract.ts'
import { placesInFiles } from './places-in-files.ts'

describe('the thread of the SQLite store', () => storeContract(placesInFiles(openSqliteDaemonStore)))
