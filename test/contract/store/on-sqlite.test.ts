import { describe } from 'vitest'
import { openSqliteDaemonStore } from '../../../src/store/open-sqlite.ts'
import { SAME_STATEMENTS, storeContract } from './store-contract.ts'
import { placesInFiles } from '../../kit/store/sqlite/places-in-files.ts'

describe('the thread of the SQLite store', () => storeContract(placesInFiles(openSqliteDaemonStore), SAME_STATEMENTS))
