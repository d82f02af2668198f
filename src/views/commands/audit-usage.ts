import * as z from 'zod'
import { ROUNDED, type MinuteSum } from '../../history/minute-sums.ts'
import { USAGE_FORMULAS } from '../../ledger/usage.ts'
import { coverage, type Report } from '../report.ts'
import { time } from '../shapes.ts'

const sum = z.object({ audio: z.number(), video: z.number(), total: z.number() })

/** The vendor's own count of the minutes of a target beside callwatch's two sums. */
const usageAudit = z.object({
  target: z.string(),
  since: time,
  until: time,
  problem: z.string().nullable().describe('Why the vendor did not say its minutes'),
  vendor: sum
    .extend({
      recorded: z.number(),
      asked_in: z
        .enum(['seconds', 'milliseconds'])
        .nullable()
        .describe(
          'The unit of times in which the service was asked, which is not published; null if it answers the same in both',
        ),
    })
    .nullable(),
  participant_minutes: sum,
  user_minutes: z.number(),
  nearest: z
    .object({
      of: z.enum(USAGE_FORMULAS),
      rounded: z.enum(ROUNDED).describe('What is rounded up to minutes'),
      with_alone: z.boolean().describe('Whether calls that one participant joined count'),
      minutes: z.number(),
    })
    .nullable()
    .describe("The way to add minutes up that is nearest to the vendor's sum"),
  coverage,
})
export type UsageAudit = z.output<typeof usageAudit>
export const usageAuditDocument = z.object({ targets: z.array(usageAudit) })

/** The vendor's own count, and the unit of times in which it was asked. */
type VendorMinutes = { audio: number; video: number; recorded: number; askedIn: 'seconds' | 'milliseconds' | undefined }

type Compared = {
  target: string
  report: Report
  sums: readonly MinuteSum[]
  vendor: VendorMinutes | { problem: string }
}

export function usageAuditView({ target, report, sums, vendor }: Compared): UsageAudit {
  const { since, until, coverage, total } = report
  const known = 'problem' in vendor ? undefined : vendor
  const vendorTotal = known && known.audio + known.video
  const [nearest] = sums.toSorted((a, b) => offBy(a, vendorTotal) - offBy(b, vendorTotal))
  return {
    target,
    since,
    until,
    problem: 'problem' in vendor ? vendor.problem : null,
    vendor:
      known === undefined
        ? null
        : {
            audio: known.audio,
            video: known.video,
            total: known.audio + known.video,
            recorded: known.recorded,
            asked_in: known.askedIn ?? null,
          },
    participant_minutes: total.participant_minutes,
    user_minutes: total.user_minutes,
    nearest:
      !vendorTotal || nearest === undefined
        ? null
        : { of: nearest.of, rounded: nearest.rounded, with_alone: nearest.withAlone, minutes: nearest.minutes },
    coverage,
  }
}

const offBy = ({ minutes }: MinuteSum, total = 0) => Math.abs(minutes - total)
