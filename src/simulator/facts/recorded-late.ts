import { withTurns } from '../turn.ts'
import type { Fact } from './fact.ts'

/** That a call was recorded shows only some time after its end. Truth: it counts as recorded from then on. */
export const recordedLate: Fact = (life, { wait }) => {
  if (life.startedMs === undefined || life.recordedFromMs !== undefined) return undefined
  const change = <Call>(call: Call): Call => ({ ...call, hasRecording: true })
  return withTurns(life, { ms: life.endedMs + wait(5, 600), name: 'recorded', change })
}
