import type { Call } from '../call.ts'
import { between, chance } from '../draw.ts'
import { withTurns } from '../turn.ts'
import type { Turn } from '../turn.ts'
import type { Fact } from './fact.ts'

type Minutes = { totalAudioMinutes: number; totalVideoMinutes: number; totalDurationInMinutes: number }

/**
 * The minutes of the call and of its participants rise or fall once or twice in the hour after the end. Truth: the
 * minutes that the service says last; compare them less corrections.
 */
export const corrected: Fact = (life, { random, wait }) => {
  const turns: Turn[] = []
  let ms = life.endedMs
  for (let i = 0; i < (chance(random, 0.3) ? 2 : 1); i++) {
    ms += wait(5, 1800)
    turns.push({ ms, name: 'corrected', change: correction(between(random, 0.3, 1.7), between(random, 0.3, 1.7)) })
  }
  return withTurns(life, ...turns)
}

function correction(callFactor: number, participantFactor: number): Turn['change'] {
  return (call: Call): Call => ({
    ...call,
    ...scaled(call, callFactor),
    participants: call.participants.map((entry) => ({ ...entry, ...scaled(entry, participantFactor) })),
  })
}

function scaled({ totalAudioMinutes, totalVideoMinutes }: Minutes, factor: number): Minutes {
  const audio = rounded(totalAudioMinutes * factor)
  const video = rounded(totalVideoMinutes * factor)
  return { totalAudioMinutes: audio, totalVideoMinutes: video, totalDurationInMinutes: rounded(audio + video) }
}

function rounded(minutes: number): number {
  return Math.round(minutes * 10_000) / 10_000
}
