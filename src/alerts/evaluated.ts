/** When rules were judged, and by what beside the calls: enough to judge the same history again. UNIX seconds. */
export type Evaluated = EvaluatedLook | EvaluatedTick

/** After a good look. `at` is the host's clock, `now` the service's. */
export type EvaluatedLook = {
  kind: 'look'
  at: number
  now: number
  previousGood: number | undefined
  limited: boolean
}

/** Between looks, where that changed something or the last look is long ago; `pollAge` in seconds. */
export type EvaluatedTick = { kind: 'tick'; at: number; pollAge: number }
