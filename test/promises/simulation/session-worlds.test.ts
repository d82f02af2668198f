import { expect, test } from 'vitest'
import type { Switches } from '../../kit/world/switches.ts'
import { seedsOfCommit } from '../../kit/seeds-of-commit.ts'
import { simulateRun } from './simulate-run.ts'

type World = {
  /** What must have happened: one of each list, or the test would say nothing. */
  reaches: readonly (readonly string[])[]
  switches: Partial<Switches>
  /** Added to `sessions`, which a world has unless its sessions are unique. */
  hazards?: readonly string[]
}

const A = { listedAs: 'A', mids: 'given', sessionGap: 60 } as const
const AGAIN = ['session.again', 'session.again_at_once']
const AT_ONCE = ['session.again_at_once']

const worlds: Record<string, World> = {
  'meet again, each call with a row': { reaches: [['session.again']], switches: A },
  'meet again a second after the call before': { reaches: [AT_ONCE], switches: { ...A, sessionGap: 1 } },
  'have one row, which shows the next call two polls after the call before': {
    reaches: [['session.again'], ['event.unlisted']],
    switches: { ...A, listedAs: 'B', sessionGap: 45 },
  },
  'have one row, which shows the next call before a poll has seen the end of the call before': {
    reaches: [AT_ONCE, ['event.replaced']],
    switches: { ...A, listedAs: 'B', sessionGap: 1 },
  },
  'have one row, in which a call goes on': { reaches: [['session.continued']], switches: { ...A, listedAs: 'C' } },
  'have calls whose mid comes late': { reaches: [AGAIN, ['event.identified']], switches: { ...A, mids: 'late' } },
  'have calls without a mid': { reaches: [AGAIN], switches: { ...A, mids: 'none' } },
  'have one mid for the whole room': { reaches: [AGAIN], switches: { ...A, mids: 'room' } },
  'meet again, and Get Call shows only the newest call of a session': {
    reaches: [AGAIN, ['get.several'], ['get.form_object']],
    switches: { ...A, getCall: 'object' },
  },
  'have one row, and Get Call lists the next call without the one that was requested': {
    reaches: [AGAIN, ['get.form_list']],
    switches: { ...A, listedAs: 'B', sessionGap: 1, getCall: 'list' },
  },
  'meet again, and Get Call lists nothing of a session that it does not know': {
    reaches: [AGAIN, ['get.empty_list']],
    switches: { ...A, unknownCall: 'empty_list', facts: { vanished: 0.3 } },
  },
  'have session ids that begin with the marker of call ids': {
    reaches: [AGAIN, ['fact.marked_id']],
    switches: { ...A, facts: { marked_id: 1 } },
  },
  'have session ids of 500 characters': {
    reaches: [AGAIN, ['fact.long_id']],
    switches: { ...A, facts: { long_id: 1 } },
  },
  'meet again a second after the call before, on small pages': {
    reaches: [AT_ONCE],
    switches: { ...A, perPage: 10, sessionGap: 1 },
  },
  'use sessions again that had a call before the set-up': {
    reaches: [['list.reused_id']],
    switches: A,
    hazards: ['reusedIds'],
  },
}

/** A third of them, another one with each commit. */
const drawn = Object.entries(worlds).filter((_world, i) => i % 3 === seedsOfCommit(1)[0]! % 3)

test.each(drawn.map(([name, world], i) => [name, 1 + (i % 2), world] as const))(
  'calls of groups that %s are counted exactly (seed %i)',
  async (_name, seed, { switches, hazards = [], reaches }) => {
    const names = switches.sessions === 'unique' ? hazards : ['sessions', ...hazards]
    const { differences, reached } = await simulateRun({ seed, days: 0.02, hazards: names, switches })
    const missing = reaches.filter((any) => !any.some((what) => (reached.get(what) ?? 0) > 0))
    const again = `--first ${seed} --seeds 1 --days 0.02 --hazards ${names.join()} --switch '${JSON.stringify(switches)}'`
    expect({ differences, missing }, `again: npm run simtest -- ${again}`).toEqual({ differences: [], missing: [] })
  },
)
