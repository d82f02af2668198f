/** What a request or a command asks for cannot be answered: a parameter is wrong, or names what does not exist. The message says what is expected. */
export class QueryError extends Error {
  override readonly name = 'QueryError'
}
