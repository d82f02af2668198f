/**
 * Whether an error comes from the program itself, such as a value of a type that no driver takes: no database, and nothing
 * on the way to one, fails like that.
 */
export function isOwnMistake(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
}
