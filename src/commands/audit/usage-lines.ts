import { formatNumber } from '../../text/format.ts'
import type { UsageAudit, UsageTotal } from '../../views/commands/audit-usage.ts'
import { coverageText } from '../../views/report-text.ts'

/** The vendor's count of the minutes of a target beside callwatch's, as lines for people. */
export function usageLines(audit: UsageAudit): string[] {
  const { target, since, until, problem, vendor, participant_minutes: participant, user_minutes: user } = audit
  const not = coverageText({ coverage: audit.coverage, zone: 'UTC' })
  return [
    `${target}, ${dateOf(since)} to ${dateOf(until)} UTC`,
    vendor === null
      ? `  the vendor's count is not known: ${problem}`
      : `  the vendor counts ${minutes(vendor.total)} minutes: ${ofKinds(vendor)}, besides ${minutes(vendor.recorded)} recorded; ${askedIn(vendor)}`,
    `  callwatch counts ${compared(participant.total, 'participant', vendor?.total)}: ${ofKinds(participant)}; ${compared(user, 'user', vendor?.total)}`,
    ...nearestLines(audit),
    ...(not === '' ? [] : [`  ${not}`]),
    '',
  ]
}

/** All targets together, of so many, as a line. */
export function totalLine(total: UsageTotal, of: number): string {
  const { targets, vendor, participant_minutes: participant, user_minutes: user } = total
  const counted = [compared(participant, 'participant', vendor), compared(user, 'user', vendor)].join(', ')
  const says = vendor === null ? "the vendor's count is not known" : `the vendor counts ${minutes(vendor)} minutes`
  return `${targets === of ? 'all' : `${targets} of`} ${of} targets: ${says}; callwatch counts ${counted}`
}

/** `8,310 participant minutes (+1.2%)`. */
const compared = (own: number, kind: 'participant' | 'user', vendor: number | null = null) =>
  `${minutes(own)} ${kind} minutes${vendor ? ` (${off(own, vendor)})` : ''}`

const minutes = (n: number) => formatNumber(n)
const dateOf = (time: string) => time.slice(0, 16).replace('T', ' ')
const ofKinds = ({ audio, video }: { audio: number; video: number }) =>
  `${minutes(audio)} audio and ${minutes(video)} video`

/** `+1.2%`, `equal`. */
function off(own: number, vendor: number): string {
  const percent = formatNumber((own / vendor - 1) * 100)
  return percent === '0' ? 'equal' : `${percent.startsWith('-') ? '' : '+'}${percent}%`
}

function askedIn({ asked_in: unit, total }: NonNullable<UsageAudit['vendor']>): string {
  if (unit !== null) return `it understood times in ${unit}`
  const both = 'asked in seconds and in milliseconds'
  return total === 0 ? both : `${both} it answers the same, perhaps of another period`
}

const NAMES = { participants: 'participant minutes', duration: 'user minutes' } as const
const ROUNDED = {
  nothing: '',
  call: 'if each call is rounded up',
  participant: 'if each participant is rounded up',
} as const

function nearestLines({ nearest }: UsageAudit): string[] {
  if (nearest === null) return []
  const alone = nearest.with_alone ? '' : 'without calls that one participant joined'
  const way = [NAMES[nearest.of], ROUNDED[nearest.rounded], alone].filter((part) => part !== '').join(', ')
  return [`  nearest: ${way}: ${minutes(nearest.minutes)}`]
}
