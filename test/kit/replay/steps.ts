export type Step = { from: string; to: string; observed: boolean }

/** A call's status, or where it stands without one: not seen yet, or lost. */
export type Standing = string

const UNSUCCESSFUL = ['unanswered', 'rejected', 'canceled']

/** The transitions between two observations of a call (semantics.md, Transitions); none where nothing changed. */
export function steps(mode: string, from: Standing, to: Standing): Step[] {
  if (from === to) return []
  const via = between(mode, from, to)
  if (via.length > 0) return pairs([from, ...via, to], false)
  const seen = from === 'none' ? isFirst(mode, to) : true
  return [{ from, to, observed: seen }]
}

/** The statuses that a call must have passed unseen. */
function between(mode: string, from: Standing, to: Standing): string[] {
  const meeting = mode === 'meet' || mode === 'presenter'
  if (from === 'initiated') return to === 'ended' ? ['ongoing'] : []
  if (from !== 'none') return []
  if (UNSUCCESSFUL.includes(to)) return ['initiated']
  if (to === 'ongoing') return meeting ? [] : ['initiated']
  if (to === 'ended') return meeting ? ['ongoing'] : ['initiated', 'ongoing']
  return []
}

/** Whether a call that is seen so for the first time can have been nothing before. */
function isFirst(mode: string, to: Standing): boolean {
  return to === 'initiated' || (to === 'ongoing' && (mode === 'meet' || mode === 'presenter'))
}

function pairs(path: string[], observed: boolean): Step[] {
  return path.slice(1).map((to, index) => ({ from: path[index]!, to, observed }))
}
