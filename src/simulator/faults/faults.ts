import type { Random } from '../random.ts'
import { drip } from './drip.ts'
import { empty } from './empty.ts'
import { error200 } from './error-200.ts'
import type { Fault } from './fault.ts'
import { hang } from './hang.ts'
import { html200 } from './html-200.ts'
import { html500 } from './html-500.ts'
import { http500 } from './http-500.ts'
import { http502 } from './http-502.ts'
import { http503 } from './http-503.ts'
import { rateLimited } from './rate-limited.ts'
import { reset } from './reset.ts'
import { truncated } from './truncated.ts'

/** Every fault there is, by the name that the switch `fault` knows it by. A new one is a file here and a line. */
export const faults = {
  http_500: http500,
  html_500: html500,
  http_502: http502,
  http_503: http503,
  rate_limited: rateLimited,
  reset,
  hang,
  drip,
  truncated,
  empty,
  html_200: html200,
  error_200: error200,
} satisfies Record<string, Fault>

export type FaultName = keyof typeof faults

export const faultNames = Object.keys(faults).filter(isFaultName)

/** Each fault's probability, 0 to 1, absent for 0; their sum is at most 1. */
export type FaultProbabilities = Partial<Record<FaultName, number>>

/** The fault that one request meets, if any: one draw a request, whatever the probabilities. */
export function drawFault(random: Random, probabilities: FaultProbabilities): FaultName | undefined {
  let left = random()
  for (const name of faultNames) {
    left -= probabilities[name] ?? 0
    if (left < 0) return name
  }
  return undefined
}

export function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(faults, name)
}
