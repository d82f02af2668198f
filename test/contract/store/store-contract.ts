import { alertHistoryContract } from './alert-history-contract.ts'
import { balanceContract } from './balance-contract.ts'
import { callHistoryContract } from './call-history-contract.ts'
import { commitContract } from './commit-contract.ts'
import { eventsContract } from './events-contract.ts'
import { evictedContract } from './evicted-contract.ts'
import { historyContract } from './history-contract.ts'
import { meetingsContract } from './meetings-contract.ts'
import { noticeContract } from './notice-contract.ts'
import { outboxContract } from './outbox-contract.ts'
import { participantsContract } from './participants-contract.ts'
import type { NewPlace } from '../../kit/store/place.ts'
import { queriesContract } from './queries-contract.ts'
import { removedContract } from './removed-contract.ts'
import { rollupsContract } from './rollups-contract.ts'
import { readerContract } from './reader-contract.ts'
import { targetContract } from './target-contract.ts'
import { webhooksContract } from './webhooks-contract.ts'

/** What every store promises, whichever it is. */
export function storeContract(newPlace: NewPlace): void {
  targetContract(newPlace)
  historyContract(newPlace)
  callHistoryContract(newPlace)
  evictedContract(newPlace)
  commitContract(newPlace)
  eventsContract(newPlace)
  participantsContract(newPlace)
  outboxContract(newPlace)
  alertHistoryContract(newPlace)
  noticeContract(newPlace)
  balanceContract(newPlace)
  queriesContract(newPlace)
  rollupsContract(newPlace)
  removedContract(newPlace)
  readerContract(newPlace)
  webhooksContract(newPlace)
  meetingsContract(newPlace)
}
