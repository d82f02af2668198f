import { z } from 'zod'
import { text } from './scalars.ts'

/** The definition of a secret. */
export type Secret = {
  /** What it is, for a sentence: `the webhook`. */
  of: string
  /** The description of its key. */
  about: string
  /** The variable that fills the key if the file omits it, and the variable that names its file. */
  variable?: string
  fileVariable?: string
  /** Keys that make `variable` superfluous. */
  unless?: readonly string[]
  /** An example variable of the user's own, to keep the secret out of the file; default: `variable`. */
  example?: string
  /** If only a part of the value is secret: masks that part, and returns the part in every spelling. */
  partly?: { masked: (value: string, mask: string) => string; secretsIn: (value: string) => string[] }
}

/** All schemas whose values must never be shown. */
export const secrets = z.registry<Secret>()

/**
 * A secret. An entry `x` of a section also accepts the key `x_file`, which names a file that contains the secret. The section
 * checks that only one of the two is given, and one of them unless the secret is optional (section.ts). The value is read
 * from the file or from variables, and masked wherever the configuration is shown (config).
 */
export function secret(value: z.ZodString, known: Secret): z.ZodString {
  return value.register(secrets, known)
}

/** The password of a user, which callwatch sends or compares as text. */
export function password(example: string): z.ZodString {
  const value = text('a password without control characters', (given) => !/\p{Cc}/u.test(given))
  return secret(value, { of: 'the password', about: 'Password of the user', example })
}

/** Reports a `username` without a `password`, and a password without a user. */
export function reportLogin(
  hasUser: boolean,
  hasPassword: boolean,
  report: (path: string[], message: string) => void,
): void {
  const missing = 'missing; expected the password of `username`, or the name of a file that holds it in `password_file`'
  if (hasUser && !hasPassword) report(['password'], missing)
  if (!hasUser && hasPassword) report(['username'], 'missing; expected the user of the password')
}
