/** The command line asks for something that cannot be; the message says what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
