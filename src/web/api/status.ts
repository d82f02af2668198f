import { isoTime } from '../../clock/times.ts'
import { otherTargetView, targetView } from '../../views/target.ts'
import { status } from '../../views/status.ts'
import type { WebOptions } from '../server.ts'
import { route } from './route.ts'

/** All targets. */
export const statusRoute = route(
  'GET /api/v1/status',
  'Targets with counts, windows and rules',
  {
    answers: { 200: status },
    isClean: true,
  },
  ({ version, targets, problem, wall }: WebOptions) =>
    async () => {
      const now = wall()
      const views = new Map(targets.own().map((each) => [each.name, targetView(each)]))
      for (const other of targets.others()) views.set(other.name, otherTargetView(other, now))
      return {
        version,
        now: isoTime(now),
        problem: problem(),
        targets: targets.all().flatMap((name) => views.get(name) ?? []),
      }
    },
)
