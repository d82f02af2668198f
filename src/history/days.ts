/** A period from `from` (included) to `to` (excluded), in UNIX seconds. */
export type Period = { from: number; to: number }

/** The days of a time zone (an IANA name) that overlap a period: names (`2026-11-20`) and beginnings (UNIX seconds). */
export function daysOf({ from, to }: Period, zone: string): { name: string; from: number }[] {
  const days: ReturnType<typeof daysOf> = []
  if (!(from < to)) return days
  let day = Temporal.Instant.fromEpochMilliseconds(Math.floor(from * 1000))
    .toZonedDateTimeISO(zone)
    .startOfDay()
  for (; day.epochMilliseconds / 1000 < to; day = day.add({ days: 1 }).startOfDay())
    days.push({ name: day.toPlainDate().toString(), from: day.epochMilliseconds / 1000 })
  return days
}
