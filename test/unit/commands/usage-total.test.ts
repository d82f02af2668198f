import { expect, test } from 'vitest'
import { totalLine } from '../../../src/commands/audit/usage-lines.ts'
import { usageTotalView, type UsageAudit } from '../../../src/views/commands/audit-usage.ts'

const sum = (total: number) => ({ audio: 0, video: total, total })

/** A target with 90 participant minutes and 120 user minutes, of which the vendor says so many minutes, or none. */
const audited = (target: string, vendor: number | null): UsageAudit => ({
  target,
  since: '2026-11-01T00:00:00.000Z',
  until: '2026-12-01T00:00:00.000Z',
  problem: vendor === null ? 'no answer' : null,
  vendor: vendor === null ? null : { ...sum(vendor), recorded: 0, asked_in: 'seconds' },
  participant_minutes: sum(90),
  user_minutes: 120,
  nearest: null,
  coverage: { blind_seconds: 0, blind: [] },
})

test.each([
  [
    'of all targets',
    [audited('a', 100), audited('b', 100)],
    'all 2 targets: the vendor counts 200 minutes; callwatch counts 180 participant minutes (-10%), 240 user minutes (+20%)',
  ],
  [
    'with the minutes of an app once, also where it answered only one of its targets',
    [audited('a', 100), audited('shop-1', 200), audited('shop-2', null)],
    'all 3 targets: the vendor counts 300 minutes; callwatch counts 270 participant minutes (-10%), 360 user minutes (+20%)',
  ],
  [
    'of the targets of which the vendor says its minutes',
    [audited('a', 90), audited('b', null), audited('c', 90)],
    '2 of 3 targets: the vendor counts 180 minutes; callwatch counts 180 participant minutes (equal), 240 user minutes (+33.3%)',
  ],
  [
    'of callwatch alone if the vendor says nothing',
    [audited('a', null), audited('b', null)],
    "all 2 targets: the vendor's count is not known; callwatch counts 180 participant minutes, 240 user minutes",
  ],
])('the last line of audit --usage is the sum %s', (_what, audits, line) => {
  const total = usageTotalView(audits, (target) => target.replace(/-\d$/, ''))
  expect(totalLine(total, audits.length)).toBe(line)
})
