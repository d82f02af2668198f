/** Whether a text is the IANA name of a time zone that the runtime knows. */
export function isTimezone(text: string): boolean {
  // The runtime also accepts offsets such as `+02:00`, which ignore daylight saving time.
  if (!/^[A-Z]/i.test(text)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
