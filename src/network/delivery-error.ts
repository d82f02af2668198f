/** A message was not accepted. Its message never holds the URL, which is a secret. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError'
  /** Whether it may be accepted when it is sent again. */
  readonly retryable: boolean
  /** Seconds that the receiver asked to wait. */
  readonly retryAfter: number | undefined
  /** The status of its response; undefined where none came. */
  readonly status: number | undefined
  /** Whether it may have been accepted all the same, as when no answer came. */
  readonly mayHaveArrived: boolean

  constructor(
    message: string,
    {
      retryable,
      retryAfter,
      status,
      mayHaveArrived = false,
    }: { retryable: boolean; retryAfter?: number | undefined; status?: number; mayHaveArrived?: boolean },
  ) {
    super(message)
    this.retryable = retryable
    this.retryAfter = retryAfter
    this.status = status
    this.mayHaveArrived = mayHaveArrived
  }
}
