import { FINAL_STATUSES } from '../../ledger/call.ts'
import { plural } from '../../text/format.ts'
import { aboveShare, labelled, minCalls, windowed } from '../rule-keys.ts'
import { beyond, callSignal, formatIn, inWindow, sum } from '../signal.ts'

export const notJoined = callSignal({
  name: 'not_joined',
  description: 'Share of the people invited to calls finished in the window who did not join',
  keys: { ...labelled, ...windowed, ...minCalls, ...aboveShare },
  unit: 'share',
  isReplayable: true,
  calls: ({ finished }, { from, to }) => finished.between(from, to),
  statuses: () => [...FINAL_STATUSES, 'other'],
  measure: (calls) => {
    const known = calls.flatMap(({ invited }) => invited ?? []).filter(({ joined, absent }) => joined + absent > 0)
    const absent = sum(known.map((invited) => invited.absent))
    return { value: absent / (absent + sum(known.map(({ joined }) => joined))), calls: known.length }
  },
  describe: ({ value, calls = 0 }, signal) =>
    `${formatIn('share', value)} of the people invited to ${plural(calls, 'call')} that finished ${inWindow(signal)} did not join`,
  inWords: (rule) =>
    `${beyond(rule, 'share')} of the people invited to calls ${inWindow(rule.signal)} did not join (at least ${plural(rule.signal.minCalls, 'call')})`,
})
