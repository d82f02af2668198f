import type { ListKnowledge } from '../ledger/state.ts'
import type { CallPage } from '../service/calls-client.ts'
import { advanceIncrement, newIncrement, otherEnd, takeOtherEnd, type Increment } from './increment.ts'
import { concludeSweep } from './list-memory.ts'
import { provenOrder } from './list-order.ts'
import type { PageReader } from './page-reader.ts'
import { addToSweep } from './sweep.ts'

/** Reads the newest calls; returns what was read if that proves that nothing else is new. */
export async function* readIncrement(
  reader: PageReader,
  known: ListKnowledge,
): AsyncGenerator<CallPage, Increment | undefined> {
  const { look, memory, clock, begun, read } = reader
  const increment = newIncrement(known)
  let first: CallPage | undefined
  for (;;) {
    const page = yield* read(increment.page)
    first ??= page
    if (memory.sweep) addToSweep(memory.sweep, page)
    if (provenOrder(memory.order) !== known.order) return undefined
    let progress = advanceIncrement(increment, page, memory.fresh)
    if (progress === 'other end') {
      progress = takeOtherEnd(increment, yield* read(otherEnd(increment)), memory.fresh)
    }
    if (progress === 'unexplained') return undefined
    if (progress === 'on') continue
    memory.fresh.clear()
    const whole = increment.seen.size + increment.unusable >= increment.total
    if (whole) concludeSweep(memory, clock, begun)
    const { total, end } = increment
    const newList = { order: known.order, total, end, pageSize: known.pageSize }
    look.end = {
      whole,
      began: first.now,
      hostBegan: first.host,
      now: look.now,
      host: look.host,
      listed: whole ? increment.seen : new Set(),
      list: newList,
    }
    return increment
  }
}
