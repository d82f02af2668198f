/** The least and most bytes of a secret. */
const [MIN, MAX] = [24, 64]

/** Whether a text is a secret in the form of Standard Webhooks. */
export function isSigningSecret(text: string): boolean {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  if (base64 === undefined || base64.length % 4 !== 0) return false
  const { length } = Buffer.from(base64, 'base64')
  return length >= MIN && length <= MAX
}
