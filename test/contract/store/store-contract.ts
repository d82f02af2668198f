import { alertHistoryContract } from './alert-history-contract.ts'
import { balanceContract } from './balance-contract.ts'
import { callHistoryContract } from './call-history-contract.ts'
import { commitContract } from './commit-contract.ts'
import { eventsContract } from './events-contract.ts'
import { evictedContract } from './evicted-contract.ts'
import { historyContract } from './history-contract.ts'
import { meetingsContract } from './meetings-contract.ts'
import { noticeContract } from './notice-contract.ts'
import { notifiedContract } from './notified-contract.ts'
import { participantsContract } from './participants-contract.ts'
import type { NewPlace } from '../../kit/store/place.ts'
import { queriesContract } from './queries-contract.ts'
import { removedContract } from './removed-contract.ts'
import { renamedContract } from './renamed-contract.ts'
import { reportContract } from './report-contract.ts'
import { rollupsContract } from './rollups-contract.ts'
import { readerContract } from './reader-contract.ts'
import { targetContract } from './target-contract.ts'
import { webhooksContract } from './webhooks-contract.ts'

/** How much of each law is tried. */
type Extent = { runs?: number; seeds?: number[]; expired?: number }

/** Where a store is reached in another way, with the statements of one whose laws are tried in full. */
export const SAME_STATEMENTS: Extent = { runs: 3, seeds: [1], expired: 20 }

/** What every store promises, whichever it is. */
export function storeContract(newPlace: NewPlace, { runs, seeds, expired }: Extent = {}): void {
  targetContract(newPlace)
  historyContract(newPlace)
  callHistoryContract(newPlace, runs)
  evictedContract(newPlace)
  commitContract(newPlace)
  eventsContract(newPlace, expired)
  participantsContract(newPlace)
  notifiedContract(newPlace)
  alertHistoryContract(newPlace)
  noticeContract(newPlace)
  balanceContract(newPlace)
  queriesContract(newPlace, seeds)
  reportContract(newPlace)
  rollupsContract(newPlace, runs)
  removedContract(newPlace)
  renamedContract(newPlace)
  readerContract(newPlace)
  webhooksContract(newPlace)
  meetingsContract(newPlace)
}
