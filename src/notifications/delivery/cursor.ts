import type { Grouped } from './groups.ts'
import type { Known, Notified } from './notified.ts'
import { LATE_SECONDS, type Now } from './now.ts'

/** Without so much progress the cursor is not written (seconds). */
const LEAST_SECONDS = 60

/** Of an incident that lasts, its first alert and the latest end of each are needed for what its end says of the whole. */
function neededIn({ heard }: Grouped): (one: Known) => boolean {
  const lasting = new Set(heard.flatMap(({ endedAt, thread }) => (endedAt === undefined ? thread : [])))
  if (lasting.size === 0) return () => false
  const latest = new Map<string, Known>()
  const nameOf = ({ name, thread }: Known) => JSON.stringify([name, thread])
  for (const one of heard)
    if ((latest.get(nameOf(one))?.firingSince ?? 0) < one.firingSince) latest.set(nameOf(one), one)
  const first = new Map<string, number>()
  for (const { thread, firingSince } of heard) first.set(thread, Math.min(first.get(thread) ?? Infinity, firingSince))
  return (one) =>
    lasting.has(one.thread) && (latest.get(nameOf(one)) === one || first.get(one.thread) === one.firingSince)
}

/** Moves the cursor to the oldest end that may still need word, and forgets ends that were told long ago. */
export async function tidy(notified: Notified, groups: ReadonlyMap<string, Grouped>, now: Now): Promise<void> {
  const { cursor } = notified.state()
  const all = [...groups.values()]
  const endOf = ({ episode }: Known) => now.ended.get(episode)?.change.at
  const open = ({ heard, unanswered }: Grouped) => [
    ...heard.filter(({ endedAt }) => endedAt === undefined),
    ...unanswered.flatMap(({ begun }) => begun),
  ]
  const told = all.flatMap((group) => open(group).flatMap((one) => endOf(one) ?? []))
  const untold = all.flatMap((group) => group.untold.map(({ change }) => change.at))
  const next = [...told, ...untold].reduce((least, at) => Math.min(least, at - 1), now.at - LATE_SECONDS)
  // What is no longer sent here may still fire.
  const isPassed = (one: Known) => now.live(one.name)?.episode !== one.episode && (endOf(one) ?? -Infinity) <= cursor
  const old = all.flatMap((group) => {
    const { heard, interval, now: monotonic } = group
    const passed = heard.filter(
      (one) => one.endedAt !== undefined && monotonic - one.endedAt >= interval && isPassed(one),
    )
    if (passed.length === 0) return []
    const isNeeded = neededIn(group)
    return passed.filter((one) => !isNeeded(one))
  })
  await notified.forget(old)
  // Without an end in between, the cursor need not be written.
  const hasEnds = now.ended.values().some(({ change: { at } }) => at > cursor && at <= next)
  // A report may have been accepted meanwhile.
  if (hasEnds && next - cursor >= LEAST_SECONDS) await notified.set({ ...notified.state(), cursor: next })
}
