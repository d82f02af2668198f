/** A receiver did not accept a message. The error's message never contains the URL, which is a secret. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError'
  /** Whether another attempt may succeed. */
  readonly retryable: boolean
  /** How long to wait before the next attempt (seconds), such as the receiver asked for; undefined: the usual backoff. */
  readonly retryAfter: number | undefined
  /** The status of the response; undefined without a response. */
  readonly status: number | undefined
  /** Whether the receiver may have accepted the message anyway, for example if no response arrived. */
  readonly mayHaveArrived: boolean

  constructor(message: string, { retryable, retryAfter, status, mayHaveArrived = false }: Details) {
    super(message)
    this.retryable = retryable
    this.retryAfter = retryAfter
    this.status = status
    this.mayHaveArrived = mayHaveArrived
  }
}

type Details = Pick<DeliveryError, 'retryable'> &
  Partial<Pick<DeliveryError, 'retryAfter' | 'status' | 'mayHaveArrived'>>
