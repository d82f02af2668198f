import * as z from 'zod'
import { ROUNDED, type MinuteSum } from '../../history/minute-sums.ts'
import { USAGE_FORMULAS } from '../../ledger/usage.ts'
import { coverage, type Report } from '../report.ts'
import { count, time } from '../shapes.ts'

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

const usageTotal = z.object({
  targets: count.describe(
    'The targets that are added up: those of apps of which the vendor said its minutes, or all if of none',
  ),
  vendor: z.number().nullable().describe('The minutes of each app once'),
  participant_minutes: z.number(),
  user_minutes: z.number(),
})
export type UsageTotal = z.output<typeof usageTotal>
export const usageAuditDocument = z.object({ targets: z.array(usageAudit), total: usageTotal })

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

/**
 * All targets together. The vendor says the minutes of an app, whichever of its targets asks.
 *
 * @param appOf the app of a target, by its name
 */
export function usageTotalView(audits: readonly UsageAudit[], appOf: (target: string) => string): UsageTotal {
  const apps = [...Map.groupBy(audits, ({ target }) => appOf(target)).values()].map((own) => {
    return { own, vendor: own.findLast(({ vendor }) => vendor !== null)?.vendor }
  })
  const known = apps.filter(({ vendor }) => vendor)
  const added = (known.length === 0 ? apps : known).flatMap(({ own }) => own)
  return {
    targets: added.length,
    vendor: known.length === 0 ? null : sumOf(known, ({ vendor }) => vendor!.total),
    participant_minutes: sumOf(added, (one) => one.participant_minutes.total),
    user_minutes: sumOf(added, (one) => one.user_minutes),
  }
}

const sumOf = <One>(all: readonly One[], minutesOf: (one: One) => number) =>
  all.reduce((sum, one) => sum + minutesOf(one), 0)

const offBy = ({ minutes }: MinuteSum, total = 0) => Math.abs(minutes - total)
