/** Whether a text is the IANA name of a time zone that the runtime knows. */
export function isTimezone(text: string): boolean {
  // The runtime also takes offsets such as `+02:00`, which know nothing of summer time.
  if (!/^[A-Z]/i.test(text)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
