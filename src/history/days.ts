/** From one moment on and before another (UNIX seconds). */
export type Period = { from: number; to: number }

/** A day of a time zone. */
export type Day = Period & {
  /** `2026-11-20`. */
  name: string
}

/** The days of a time zone (an IANA name) that a period is made of, the first and the last one cut to it. */
export function daysOf({ from, to }: Period, zone: string): Day[] {
  const days: Day[] = []
  if (from >= to) return days
  let day = Temporal.Instant.fromEpochMilliseconds(Math.floor(from * 1000))
    .toZonedDateTimeISO(zone)
    .startOfDay()
  while (day.epochMilliseconds / 1000 < to) {
    const next = day.add({ days: 1 }).startOfDay()
    days.push({
      name: day.toPlainDate().toString(),
      from: Math.max(from, day.epochMilliseconds / 1000),
      to: Math.min(to, next.epochMilliseconds / 1000),
    })
    day = next
  }
  return days
}

/** When a date (`2026-11-20`) or a date and time without an offset begins in a time zone (UNIX seconds); undefined of none. */
export function timeIn(zone: string, text: string): number | undefined {
  return orUndefined(() => Temporal.PlainDateTime.from(text).toZonedDateTime(zone).epochMilliseconds / 1000)
}

/** A time with its offset (UNIX seconds); undefined where there is no such time. */
export function exactTime(text: string): number | undefined {
  return orUndefined(() => Temporal.Instant.from(text).epochMilliseconds / 1000)
}

function orUndefined(read: () => number): number | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
