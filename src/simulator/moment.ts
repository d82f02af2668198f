import type { CallStatus } from './call.ts'
import type { Life } from './life.ts'

/** What a call does at a moment: reaches a status, or has its figures brought up to date while it runs. */
export type Happening = CallStatus | 'progress'

/** `ms` in whole milliseconds since 1970. */
export type Moment = { ms: number; happening: Happening }

/** The first moment of a life after `ms`; none after its end. */
export function momentAfter(life: Life, ms: number): Moment | undefined {
  const { initiatedMs, startedMs, endedMs } = life
  if (ms < initiatedMs) return { ms: initiatedMs, happening: startedMs === initiatedMs ? 'ongoing' : 'initiated' }
  if (startedMs !== undefined) {
    if (ms < startedMs) return { ms: startedMs, happening: 'ongoing' }
    const next = startedMs + (Math.floor((ms - startedMs) / life.progressMs) + 1) * life.progressMs
    if (next < endedMs) return { ms: next, happening: 'progress' }
  }
  return ms < endedMs ? { ms: endedMs, happening: life.outcome } : undefined
}
